#include "conversations/markdown.h"

#include <algorithm>
#include <cctype>
#include <optional>
#include <utility>
#include <vector>

#include "base/json.h"
#include "base/text.h"
#include "conversations/html_tag.h"
#include "conversations/markdown_parser.h"

namespace sk::conversations {

namespace {

constexpr size_t kUrlBytesMax = 32 << 10;
constexpr size_t kDepthMax = 64;  // of nested tags; deeper tags are omitted, but not their contents
// Limits the output size. Short table rows are padded with cells, and each use of a definition repeats it, so
// a small text may produce a large page.
constexpr size_t kGrowthMax = 32;
constexpr size_t kSmallBytes = 4 << 10;

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n'; }
bool is_alnum(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || (c & 0x80) != 0; }

bool is_web_address(std::string_view url) {
  auto lower = ascii_lower(url.substr(0, 8));
  return lower.starts_with("http://") || lower.starts_with("https://");
}

// Returns the length of the web address at the start of `text`, or 0.
size_t web_address_at(std::string_view text) {
  if (!is_web_address(text)) return 0;
  size_t end = 0;
  int depth = 0;
  for (; end < text.size() && end < kUrlBytesMax; ++end) {
    char c = text[end];
    if (is_space(c) || std::string_view("<>\"`*|[]\\\x7f").find(c) != std::string_view::npos) break;
    if (c == '(') ++depth;
    if (c == ')' && depth-- == 0) break;
  }
  while (end > 0 && std::string_view(".,;:!?'_~").find(text[end - 1]) != std::string_view::npos) --end;
  return end > 8 && is_safe_link(text.substr(0, end)) ? end : 0;
}

// Returns nullopt for an address with an entity other than "&amp;". Ordinary addresses need none, and the
// entity may hide something.
std::optional<std::string> address_of(const MD_ATTRIBUTE& attribute) {
  if (attribute.size > kUrlBytesMax) return std::nullopt;
  std::string url;
  for (size_t i = 0; attribute.substr_offsets[i] < attribute.size; ++i) {
    size_t start = attribute.substr_offsets[i];
    std::string_view piece(attribute.text + start, attribute.substr_offsets[i + 1] - start);
    if (attribute.substr_types[i] == MD_TEXT_NORMAL)
      url += piece;
    else if (attribute.substr_types[i] == MD_TEXT_ENTITY && piece == "&amp;")
      url += '&';
    else
      return std::nullopt;
  }
  return url;
}

// Writes tags for the elements that the parser finds. All other output is escaped text.
class HtmlWriter final : public MarkdownVisitor {
 public:
  HtmlWriter(const HtmlOptions& options, std::string_view source, size_t bytes_max)
      : options_(options), source_(source), bytes_max_(bytes_max) {}

  bool enter(MD_BLOCKTYPE type, void* detail) override {
    flush_text();
    close_spans(0);  // a link that an <a> opened before a nested block, such as a list in a list
    switch (type) {
      case MD_BLOCK_UL:
        return open("<ul>\n");
      case MD_BLOCK_OL: {
        auto start = static_cast<MD_BLOCK_OL_DETAIL*>(detail)->start;
        return open(start == 1 ? "<ol>\n" : "<ol start=\"" + std::to_string(start) + "\">\n");
      }
      case MD_BLOCK_QUOTE:
        return open("<blockquote>\n");
      case MD_BLOCK_LI:
        return open("<li>");
      case MD_BLOCK_HR:
        return open("<hr>\n");
      case MD_BLOCK_H:
        return open("<h" + std::to_string(static_cast<MD_BLOCK_H_DETAIL*>(detail)->level) + ">");
      case MD_BLOCK_CODE:
        return open("<pre><code>");
      case MD_BLOCK_P:
        return open("<p>");
      case MD_BLOCK_TABLE:
        return open("<table>\n");
      case MD_BLOCK_THEAD:
        return open("<thead>\n");
      case MD_BLOCK_TBODY:
        return open("<tbody>\n");
      case MD_BLOCK_TR:
        return open("<tr>");
      case MD_BLOCK_TH:
        return open("<th>");
      case MD_BLOCK_TD:
        return open("<td>");
      case MD_BLOCK_DOC:
      case MD_BLOCK_HTML:
        return open("");
    }
    return false;
  }

  bool leave(MD_BLOCKTYPE type, void* detail) override {
    flush_text();
    switch (type) {
      case MD_BLOCK_UL:
        return close("</ul>\n");
      case MD_BLOCK_OL:
        return close("</ol>\n");
      case MD_BLOCK_QUOTE:
        return close("</blockquote>\n");
      case MD_BLOCK_LI:
        return close("</li>\n");
      case MD_BLOCK_H:
        return close("</h" + std::to_string(static_cast<MD_BLOCK_H_DETAIL*>(detail)->level) + ">\n");
      case MD_BLOCK_CODE:
        return close("</code></pre>\n");
      case MD_BLOCK_P:
        return close("</p>\n");
      case MD_BLOCK_TABLE:
        return close("</table>\n");
      case MD_BLOCK_THEAD:
        return close("</thead>\n");
      case MD_BLOCK_TBODY:
        return close("</tbody>\n");
      case MD_BLOCK_TR:
        return close("</tr>\n");
      case MD_BLOCK_TH:
        return close("</th>");
      case MD_BLOCK_TD:
        return close("</td>");
      case MD_BLOCK_HR:
      case MD_BLOCK_DOC:
      case MD_BLOCK_HTML:
        return close("");
    }
    return false;
  }

  bool enter(MD_SPANTYPE type, void* detail) override {
    flush_text();
    if (type == MD_SPAN_IMG) {
      const auto& address = static_cast<MD_SPAN_IMG_DETAIL*>(detail)->src;
      addresses_bytes_ += address.size;
      // An image inside an image description is part of the description.
      if (images_++ == 0) image_url_ = address_of(address);
    } else if (type == MD_SPAN_A) {
      const auto& address = static_cast<MD_SPAN_A_DETAIL*>(detail)->href;
      addresses_bytes_ += address.size;
      auto url = images_ > 0 || link_start_ ? std::nullopt : address_of(address);
      // For an unsafe address, only the label is shown.
      if (url && is_safe_link(*url)) {
        begin_link(*url);
        spans_.push_back(type);
      } else {
        ++plain_labels_;
      }
    } else if (images_ == 0 && spans_.size() < kDepthMax) {
      write("<" + name_of(type) + ">");
      spans_.push_back(type);
    }
    return is_within_measure();
  }

  // The parser may leave a span that it never entered, as for `[](_)_`. The output is still well-formed.
  bool leave(MD_SPANTYPE type, void*) override {
    flush_text();
    if (type == MD_SPAN_IMG) {
      if (images_ > 0 && --images_ == 0) write_image();
      return is_within_measure();
    }
    if (type == MD_SPAN_A && plain_labels_ > 0) {
      --plain_labels_;
      return is_within_measure();
    }
    auto open = std::find(spans_.rbegin(), spans_.rend(), type);
    if (images_ == 0 && open != spans_.rend()) close_spans(static_cast<size_t>(spans_.rend() - open) - 1);
    return is_within_measure();
  }

  bool text(MD_TEXTTYPE type, std::string_view piece) override {
    switch (type) {
      case MD_TEXT_NORMAL:
        if (is_escaped(piece)) escaped_.push_back(pending_.size());
        pending_ += piece;  // until the text ends, since an address may come in pieces
        return true;
      case MD_TEXT_NULLCHAR:
        pending_ += "\uFFFD";
        return true;
      case MD_TEXT_SOFTBR:
        pending_ += '\n';
        return true;
      case MD_TEXT_BR:
        flush_text();
        return write(images_ > 0 ? "\n" : "<br>\n");
      case MD_TEXT_ENTITY:
        flush_text();
        return write(piece);  // "&", letters or digits, ";": always a single character
      case MD_TEXT_CODE:
      case MD_TEXT_HTML:
      case MD_TEXT_LATEXMATH:
        flush_text();
        return write(html_escape(piece));
    }
    return false;
  }

  std::string take() { return std::move(out_); }

 private:
  static std::string name_of(MD_SPANTYPE type) {
    if (type == MD_SPAN_EM) return "em";
    if (type == MD_SPAN_STRONG) return "strong";
    return type == MD_SPAN_DEL ? "del" : "code";
  }

  // Closes spans until `left` are open.
  void close_spans(size_t left) {
    for (; spans_.size() > left; spans_.pop_back()) {
      if (spans_.back() == MD_SPAN_A)
        end_link();
      else
        write("</" + name_of(spans_.back()) + ">");
    }
  }

  bool write(std::string_view html) {
    (images_ > 0 ? alt_ : out_) += html;
    return is_within_measure();
  }
  // Counts addresses even if they are not shown: each use of a definition repeats its address and makes the
  // parser read it again.
  bool is_within_measure() const { return out_.size() + alt_.size() + addresses_bytes_ <= bytes_max_; }
  bool open(std::string_view tag) { return ++depth_ > kDepthMax || write(tag); }
  bool close(std::string_view tag) {
    if (images_ > 0) write_image();
    close_spans(0);
    return depth_-- > kDepthMax || write(tag);
  }

  // Whether the piece begins with a "<" that the text writes as "\<". The parser begins a piece there.
  bool is_escaped(std::string_view piece) const {
    if (!piece.starts_with('<')) return false;
    bool inside = piece.data() > source_.data() && piece.data() < source_.data() + source_.size();
    return inside && piece.data()[-1] == '\\';
  }

  void flush_text() {
    auto all = std::exchange(pending_, {});
    auto escaped = std::exchange(escaped_, {});
    if (images_ > 0) {
      write(html_escape(all));
      return;
    }
    std::string_view text = all;
    size_t shown = 0;
    for (size_t at = 0; at < text.size(); ++at) {
      if (text[at] == '<' && !std::binary_search(escaped.begin(), escaped.end(), at)) {
        auto tag = html_tag_at(text.substr(at));
        if (!tag) continue;
        if (is_shown(*tag)) {
          write(html_escape(text.substr(shown, at - shown)));
          write_tag(*tag);
          shown = at + tag->length;
        }
        at += tag->length - 1;  // an address in another tag is not a link
        continue;
      }
      bool may_begin =
          !link_start_ && (text[at] == 'h' || text[at] == 'H') && (at == 0 || !is_alnum(text[at - 1]));
      size_t length = may_begin ? web_address_at(text.substr(at)) : 0;
      if (length == 0) continue;
      write(html_escape(text.substr(shown, at - shown)));
      std::string url(text.substr(at, length));
      begin_link(url);
      write(html_escape(url));
      end_link();
      at += length - 1;
      shown = at + 1;
    }
    write(html_escape(text.substr(shown)));
  }

  // Whether the tag becomes a link, its end, or an image. Other tags are text.
  bool is_shown(const HtmlTag& tag) const {
    if (tag.name == "/a") return tag_span_.has_value();
    bool safe = is_web_address(tag.address) && is_safe_link(tag.address);
    return safe && (tag.name == "img" || (tag.name == "a" && !link_start_ && spans_.size() < kDepthMax));
  }

  // Writes tags of our own, with nothing of the text but the address and the description. A link that the
  // text does not close ends with its block.
  void write_tag(const HtmlTag& tag) {
    if (tag.name == "/a") return close_spans(*tag_span_);
    if (tag.name == "a") {
      begin_link(tag.address);
      tag_span_ = spans_.size();
      spans_.push_back(MD_SPAN_A);
      return;
    }
    image_url_ = tag.address;
    alt_ = html_escape(tag.alt);
    write_image();
  }

  void begin_link(const std::string& url) {
    write("<a href=\"" + html_escape(url) + "\" rel=\"noopener noreferrer nofollow\">");
    link_url_ = url;
    link_start_ = out_.size();
  }

  void end_link() {
    if (!link_start_) return;
    if (out_.size() == *link_start_) write(html_escape(link_url_));
    write("</a>");
    link_start_.reset();
    tag_span_.reset();
  }

  // Images from other servers become links, so that reading a message makes no third-party request.
  void write_image() {
    images_ = 0;
    auto alt = std::exchange(alt_, {});
    bool safe = image_url_ && is_safe_link(*image_url_);
    bool ours =
        safe && std::any_of(options_.image_prefixes.begin(), options_.image_prefixes.end(),
                            [&](const std::string& prefix) { return image_url_->starts_with(prefix); });
    if (ours) {
      write("<img src=\"" + html_escape(*image_url_) + "\" alt=\"" + alt + "\" loading=\"lazy\">");
    } else if (safe && !link_start_) {
      begin_link(*image_url_);
      write(alt);
      end_link();
    } else {
      write(alt);
    }
  }

  const HtmlOptions& options_;
  const std::string_view source_;  // the text that is parsed
  const size_t bytes_max_;
  std::string out_;
  std::string pending_;               // text not written yet
  std::vector<size_t> escaped_;       // positions of escaped "<" in pending_
  size_t depth_ = 0;                  // number of open blocks
  std::vector<MD_SPANTYPE> spans_;    // open spans except images
  size_t addresses_bytes_ = 0;        // of all links and images so far
  std::optional<size_t> link_start_;  // start of the open link's label in out_
  std::string link_url_;
  std::optional<size_t> tag_span_;  // index in spans_ of a link that an <a> opened
  size_t plain_labels_ = 0;         // open links of the parser that are shown as their labels only
  size_t images_ = 0;               // nesting depth of images; their text is a description without tags
  std::string alt_;
  std::optional<std::string> image_url_;
};

// Normalizes line endings, removes control characters and replaces invalid UTF-8.
std::string normal(std::string_view markdown) {
  std::string text;
  text.reserve(markdown.size());
  for (size_t i = 0; i < markdown.size(); ++i) {
    char c = markdown[i];
    if (c == '\r') {
      if (i + 1 < markdown.size() && markdown[i + 1] == '\n') continue;
      c = '\n';
    }
    if (static_cast<unsigned char>(c) >= ' ' || c == '\n' || c == '\t') text += c;
  }
  if (is_utf8(text)) return text;
  // The JSON writer replaces invalid UTF-8.
  return Json::parse(to_text(Json(text))).get<std::string>();
}

}  // namespace

bool is_safe_link(std::string_view url) {
  if (url.empty() || url.size() > kUrlBytesMax) return false;
  for (char c : url) {
    auto byte = static_cast<unsigned char>(c);
    if (byte <= ' ' || byte == 0x7f || c == '\\') return false;
  }
  auto lower = ascii_lower(url.substr(0, 8));
  if (lower.starts_with("http://") || lower.starts_with("https://") || lower.starts_with("mailto:"))
    return true;
  // Paths of this server; "//host" would be another server.
  return url.front() == '#' || (url.front() == '/' && !url.starts_with("//"));
}

std::string markdown_to_html(std::string_view markdown, const HtmlOptions& options) {
  auto text = normal(markdown);
  HtmlWriter writer(options, text, kGrowthMax * text.size() + kSmallBytes);
  if (parse_markdown(text, writer)) return writer.take();
  return "<pre>" + html_escape(text) + "</pre>\n";
}

}  // namespace sk::conversations
