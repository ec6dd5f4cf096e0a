// Any bytes as a message: as plain text, as a response and as an event stream, with the links found in it,
// its rewriting and its HTML. Only Error may be thrown, ranges must fit, no HTML but ours may come out, and
// no link of ours may be inside the address of another place.
#include <algorithm>
#include <cstdint>
#include <cstdlib>

#include "base/error.h"
#include "base/text.h"
#include "bridge/source.h"
#include "conversations/data_uri.h"
#include "conversations/markdown.h"
#include "conversations/markdown_parts.h"
#include "conversations/rewriting.h"
#include "conversations/transcript.h"

namespace {

using namespace sk::conversations;

constexpr const char* kOurs = "https://here/k/x";

template <class Step>
void tolerate(Step step) {
  try {
    step();
  } catch (const sk::Error&) {
  }
}

void html_is_ours(const std::string& html) {
  if (!sk::is_utf8(html)) std::abort();
  auto lower = sk::ascii_lower(html);
  for (const char* evil :
       {"<script", "<iframe", "<style", "<svg", "href=\"javascript", "href=\"data:", "src=\"data:"}) {
    if (lower.find(evil) != std::string::npos) std::abort();
  }
}

// Whether the text may have an address of another place, in which links stay as written.
bool may_be_in_another(std::string_view text) {
  auto lower = sk::ascii_lower(text);
  for (const char* sign : {"=", "?", "#", ".", "<", "http", "ftp", "mailto", "xmpp"})
    if (lower.find(sign) != std::string::npos) return true;
  return false;
}

// A link of ours inside another address would be given to that place.
void links_are_whole_addresses(std::string_view html) {
  constexpr std::string_view kBefore = "href=\"";
  for (size_t at = html.find(kBefore); at != std::string_view::npos; at = html.find(kBefore, at + 1)) {
    auto target = html.substr(at + kBefore.size());
    target = target.substr(0, target.find('"'));
    bool is_elsewhere = target.starts_with("http") && !target.starts_with(kOurs);
    if (is_elsewhere && target.find(kOurs) != std::string_view::npos) std::abort();
  }
}

void links_fit(const std::string& text) {
  size_t from = 0;
  std::vector<Replacement> all;
  auto links = find_sandbox_links(text);
  // What the HTML shows as a link to the sandbox must be found.
  for (const auto& wanted : find_markdown_parts(text).destinations) {
    auto is_it = [&](const SandboxLink& link) {
      return link.start == wanted.start && link.end == wanted.end;
    };
    bool is_wanted = std::string_view(text).substr(wanted.start).starts_with("sandbox:/mnt/data/a") &&
                     !may_be_in_another(text);
    if (is_wanted && std::none_of(links.begin(), links.end(), is_it)) std::abort();
  }
  for (const auto& link : links) {
    bool fits = link.outer_start >= from && link.start >= link.outer_start && link.end > link.start &&
                link.outer_end >= link.end && link.outer_end <= text.size();
    if (!fits) std::abort();
    from = link.outer_end;
    for (const auto& path : paths_meant(link.address)) {
      if (path.empty() || path.front() == '/' || ("/" + path + "/").find("/../") != std::string::npos)
        std::abort();
    }
    all.push_back({link, name_meant(link.address), from % 2 ? kOurs : "", "no such file"});
  }
  auto html = markdown_to_html(rewrite(text, all), {.image_prefixes = {"https://here/k/"}});
  html_is_ours(html);
  if (text.find("here/k") == std::string::npos) links_are_whole_addresses(html);
}

void all_fit(const Transcript& transcript) {
  for (const auto& mention : transcript.mentions) {
    auto name = mention.shown_name();
    if (name.find('/') != std::string::npos || name == "..") std::abort();
    if (mention.link && mention.link->outer_end > transcript.text.size()) std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string text(reinterpret_cast<const char*>(data), size);
  links_fit(text);
  tolerate([&] { all_fit(read_plain_text(text)); });
  tolerate([&] { all_fit(read_event_stream(text)); });
  tolerate([&] { all_fit(read_response(sk::parse_json(text))); });
  tolerate([&] { sk::bridge::parse_source(sk::parse_json(text), sk::bridge::PlainHttp::refused); });
  parse_data_uri(text);
  return 0;
}
