#include "http/multipart.h"

#include "base/text.h"
#include "http/content_disposition.h"

namespace sk::http {

namespace {

constexpr size_t kBoundaryBytesMax = 70;  // RFC 2046
constexpr size_t kPaddingBytesMax = 64;

[[noreturn]] void malformed(const std::string& what) {
  throw Error(Code::bad_request, "The multipart body is malformed: " + what);
}

MultipartPart parse_headers(std::string_view text) {
  MultipartPart part;
  while (!text.empty()) {
    auto end = text.find("\r\n");
    auto line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 2);
    if (line.empty()) continue;
    auto colon = line.find(':');
    if (colon == std::string_view::npos || colon == 0) malformed("a part's header line has no name.");
    part.headers.add(std::string(trim(line.substr(0, colon))), std::string(trim(line.substr(colon + 1))));
  }
  auto disposition = parse_content_disposition(part.headers.get("Content-Disposition").value_or(""));
  if (!disposition || disposition->type != "form-data")
    malformed("a part has no valid 'Content-Disposition: form-data' header.");
  auto name = disposition->params.find("name");
  if (name == disposition->params.end()) malformed("a part has no name.");
  part.name = name->second;
  auto filename = disposition->params.find("filename");
  if (filename != disposition->params.end()) part.filename = filename->second;
  part.content_type = part.headers.get("Content-Type").value_or("");
  return part;
}

}  // namespace

// The first delimiter may be at the very start, without a preceding line break. Starting with a buffered line
// break makes it like all others.
MultipartParser::MultipartParser(std::string_view boundary, Callbacks callbacks, Limits limits)
    : delimiter_("\r\n--" + std::string(boundary)),
      callbacks_(std::move(callbacks)),
      limits_(limits),
      held_("\r\n") {}

void MultipartParser::feed(std::string_view bytes) {
  if (state_ == State::epilogue) return;
  std::string joined;
  std::string_view rest = bytes;
  if (!held_.empty()) {
    joined = std::move(held_);
    joined.append(bytes);
    rest = joined;
  }
  bool going = true;
  while (going) {
    switch (state_) {
      case State::data:
        going = step_data(rest);
        break;
      case State::after_delimiter:
        going = step_after_delimiter(rest);
        break;
      case State::headers:
        going = step_headers(rest);
        break;
      case State::part_start:
        going = step_part_start(rest);
        break;
      case State::epilogue:
        return;
    }
  }
  held_ = std::string(rest);
}

void MultipartParser::emit(std::string_view bytes) {
  if (in_part_ && !bytes.empty()) callbacks_.data(bytes);
}

bool MultipartParser::step_data(std::string_view& rest) {
  auto at = rest.find(delimiter_);
  if (at != std::string_view::npos) {
    emit(rest.substr(0, at));
    if (in_part_) callbacks_.end();
    in_part_ = false;
    rest.remove_prefix(at + delimiter_.size());
    state_ = State::after_delimiter;
    return true;
  }
  // Emit all but a tail that may be the start of a delimiter.
  size_t keep = std::min(rest.size(), delimiter_.size() - 1);
  while (keep > 0 && !delimiter_.starts_with(rest.substr(rest.size() - keep))) --keep;
  emit(rest.substr(0, rest.size() - keep));
  rest.remove_prefix(rest.size() - keep);
  return false;
}

bool MultipartParser::step_after_delimiter(std::string_view& rest) {
  if (rest.size() >= 2 && rest.starts_with("--")) {
    state_ = State::epilogue;
    return true;
  }
  auto end = rest.find("\r\n");
  auto padding = rest.substr(0, end);
  bool unfinished = end == std::string_view::npos;
  if (unfinished && (padding == "-" || padding.ends_with('\r'))) padding.remove_suffix(1);
  if (padding.find_first_not_of(" \t") != std::string_view::npos || padding.size() > kPaddingBytesMax)
    malformed("a boundary is not followed by a line break.");
  if (unfinished) return false;
  rest.remove_prefix(end + 2);
  state_ = State::headers;
  return true;
}

bool MultipartParser::step_headers(std::string_view& rest) {
  bool none = rest.starts_with("\r\n");
  auto end = none ? 0 : rest.find("\r\n\r\n");
  if (end == std::string_view::npos ? rest.size() > limits_.header_bytes_max : end > limits_.header_bytes_max)
    throw Error(Code::too_large, "The headers of a part are larger than " +
                                     std::to_string(limits_.header_bytes_max) + " bytes.");
  if (end == std::string_view::npos) return false;
  if (++parts_ > limits_.parts_max)
    throw Error(Code::too_large, "The body has more than " + std::to_string(limits_.parts_max) + " parts.");
  auto part = parse_headers(rest.substr(0, end));
  rest.remove_prefix(none ? 2 : end + 4);
  in_part_ = true;
  state_ = State::part_start;
  callbacks_.begin(part);
  return true;
}

// An empty part may end right after its headers. Their last line break is then also the start of the
// delimiter.
bool MultipartParser::step_part_start(std::string_view& rest) {
  auto bare = std::string_view(delimiter_).substr(2);
  if (rest.starts_with(bare)) {
    callbacks_.end();
    in_part_ = false;
    rest.remove_prefix(bare.size());
    state_ = State::after_delimiter;
    return true;
  }
  if (rest.size() < bare.size() && bare.starts_with(rest)) return false;
  state_ = State::data;
  return true;
}

void MultipartParser::finish() const {
  if (state_ != State::epilogue) malformed("it ends before its closing boundary.");
}

std::string multipart_boundary(const std::optional<std::string>& content_type) {
  auto parsed = parse_content_disposition(content_type.value_or(""));  // has the same grammar
  if (!parsed || parsed->type != "multipart/form-data")
    throw Error(Code::unsupported_media_type, "The body must be multipart/form-data.");
  auto found = parsed->params.find("boundary");
  if (found == parsed->params.end() || found->second.empty() || found->second.size() > kBoundaryBytesMax)
    throw Error(Code::bad_request, "The Content-Type has no valid boundary.");
  for (char c : found->second)
    if (static_cast<unsigned char>(c) < 0x20 || static_cast<unsigned char>(c) > 0x7e)
      throw Error(Code::bad_request, "The Content-Type has no valid boundary.");
  return found->second;
}

}  // namespace sk::http
