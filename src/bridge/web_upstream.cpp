#include "bridge/web_upstream.h"

namespace sk::bridge {

namespace {

constexpr size_t kWebUrlBytesMax = 8192;

bool is_plain_ascii(std::string_view text) {
  for (char c : text)
    if (c < '!' || c > '~') return false;
  return true;
}

}  // namespace

Fetched WebUpstream::fetch(const WantedFile& wanted, ByteSink& sink) {
  const auto& url = wanted.url;
  auto origin = origin_of_url(url);
  if (origin.empty() || url.size() > kWebUrlBytesMax || !is_plain_ascii(url))
    return {Fetched::Outcome::cannot_tell, "its address cannot be fetched", ""};
  if (origin.starts_with("http:") && plain_http_ == PlainHttp::refused)
    return {Fetched::Outcome::cannot_tell, "its address does not begin with https://", ""};
  auto answer = remote_->get(url, &sink);
  return {verdict_on(answer), answer.problem, ""};
}

}  // namespace sk::bridge
