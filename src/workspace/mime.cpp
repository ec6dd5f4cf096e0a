#include "workspace/mime.h"

#include <algorithm>
#include <array>

#include "base/text.h"

namespace sk::workspace {

namespace {

struct ByName {
  std::string_view extension, mime;
};

// Types that libmagic cannot detect from bytes (text formats) or detects slowly; the name decides.
constexpr auto kByName = std::to_array<ByName>({
    {"avif", "image/avif"},
    {"bash", "text/x-shellscript"},
    {"bin", "application/octet-stream"},
    {"bmp", "image/bmp"},
    {"c", "text/x-c"},
    {"cc", "text/x-c++"},
    {"cpp", "text/x-c++"},
    {"css", "text/css"},
    {"csv", "text/csv"},
    {"docx", "application/vnd.openxmlformats-officedocument.wordprocessingml.document"},
    {"feather", "application/vnd.apache.arrow.file"},
    {"gif", "image/gif"},
    {"gz", "application/gzip"},
    {"h", "text/x-c"},
    {"h5", "application/x-hdf5"},
    {"htm", "text/html"},
    {"html", "text/html"},
    {"ics", "text/calendar"},
    {"ipynb", "application/x-ipynb+json"},
    {"java", "text/x-java"},
    {"jpeg", "image/jpeg"},
    {"jpg", "image/jpeg"},
    {"js", "text/javascript"},
    {"json", "application/json"},
    {"jsonl", "application/x-ndjson"},
    {"log", "text/plain"},
    {"md", "text/markdown"},
    {"mjs", "text/javascript"},
    {"mp3", "audio/mpeg"},
    {"mp4", "video/mp4"},
    {"ndjson", "application/x-ndjson"},
    {"npy", "application/x-npy"},
    {"npz", "application/x-npz"},
    {"parquet", "application/vnd.apache.parquet"},
    {"pdf", "application/pdf"},
    {"pkl", "application/x-pickle"},
    {"png", "image/png"},
    {"pptx", "application/vnd.openxmlformats-officedocument.presentationml.presentation"},
    {"py", "text/x-python"},
    {"r", "text/x-r"},
    {"rs", "text/x-rust"},
    {"sh", "text/x-shellscript"},
    {"sql", "application/sql"},
    {"svg", "image/svg+xml"},
    {"tar", "application/x-tar"},
    {"tex", "application/x-tex"},
    {"tif", "image/tiff"},
    {"tiff", "image/tiff"},
    {"toml", "application/toml"},
    {"ts", "text/x-typescript"},
    {"tsv", "text/tab-separated-values"},
    {"txt", "text/plain"},
    {"wav", "audio/wav"},
    {"webm", "video/webm"},
    {"webp", "image/webp"},
    {"xls", "application/vnd.ms-excel"},
    {"xlsx", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"},
    {"xml", "application/xml"},
    {"yaml", "application/yaml"},
    {"yml", "application/yaml"},
    {"zip", "application/zip"},
    {"zst", "application/zstd"},
});

// Detects prose and tables, the most common content without a known extension. libmagic takes milliseconds
// for text and can report it as source code because of a single word. Markup, JSON and scripts are left to
// libmagic.
bool is_plain_text(std::string_view head) {
  size_t tail = 0;  // the head may end inside a multi-byte character
  while (tail < 3 && tail < head.size() &&
         (static_cast<unsigned char>(head[head.size() - 1 - tail]) & 0xC0) == 0x80)
    ++tail;
  if (tail < head.size() && static_cast<unsigned char>(head[head.size() - 1 - tail]) >= 0xC0)
    ++tail;
  else
    tail = 0;
  if (!is_utf8(head.substr(0, head.size() - tail))) return false;
  for (char c : head) {
    auto byte = static_cast<unsigned char>(c);
    if ((byte < 32 && c != '\t' && c != '\n' && c != '\r' && c != '\f') || byte == 127) return false;
  }
  auto first = trim(head);
  constexpr std::string_view kTelling = "<{[#%";
  return !first.empty() && kTelling.find(first.front()) == std::string_view::npos;
}

}  // namespace

std::string guess_mime(std::string_view name, std::string_view head_bytes, const TypeOfBytes& type_of) {
  auto dot = name.rfind('.');
  if (dot != std::string_view::npos && dot + 1 < name.size()) {
    std::string extension = ascii_lower(name.substr(dot + 1));
    auto found =
        std::lower_bound(kByName.begin(), kByName.end(), extension,
                         [](const ByName& row, const std::string& wanted) { return row.extension < wanted; });
    if (found != kByName.end() && found->extension == extension) return std::string(found->mime);
  }
  if (head_bytes.empty()) return "application/octet-stream";
  if (is_plain_text(head_bytes)) return "text/plain";
  std::string type = type_of(head_bytes);
  return type.empty() ? "application/octet-stream" : type;
}

}  // namespace sk::workspace
