#include "api/mcp/tools/content.h"

#include <unistd.h>

#include "base/error.h"
#include "base/text.h"
#include "workspace/content.h"

namespace sk::api::mcp {

namespace {

constexpr size_t kReadBytes = 64 << 10;

// Reads a content in small buffers.
class Bytesource {
 public:
  Bytesource(workspace::KeepContext& context, const workspace::Version& version)
      : reader_(context, version.sha256, 0, version.size) {}

  // Returns an empty string at the end.
  std::string next() {
    while (true) {
      if (piece_ && piece_->file) {
        if (auto bytes = read_file(); !bytes.empty()) return bytes;
        piece_.reset();
      }
      piece_ = reader_.next();
      if (!piece_) return {};
      if (!piece_->file && !piece_->bytes.empty()) return std::move(piece_->bytes);
    }
  }

 private:
  std::string read_file() {
    std::string bytes(std::min<uint64_t>(kReadBytes, piece_->size), '\0');
    if (bytes.empty()) return bytes;
    auto got = ::pread(piece_->file->get(), bytes.data(), bytes.size(), static_cast<off_t>(piece_->offset));
    if (got < 0) throw system_error("cannot read a stored file", errno);
    bytes.resize(static_cast<size_t>(got));
    piece_->offset += bytes.size();
    piece_->size -= bytes.size();
    return bytes;
  }

  workspace::ContentReader reader_;
  std::optional<workspace::ContentPiece> piece_;
};

}  // namespace

Lines read_lines(workspace::KeepContext& context, const workspace::Version& version, int64_t first,
                 int64_t count, size_t bytes_max) {
  Lines out;
  out.first = first;
  Bytesource source(context, version);
  std::string line;
  int64_t number = 1;
  size_t shown = 0;
  bool open = false;  // a line has begun
  auto end_line = [&] {
    if (number >= first) {
      if (line.ends_with('\r')) line.pop_back();
      shown += line.size() + 1;
      out.lines.push_back(std::move(line));
    }
    line.clear();
    ++number;
    open = false;
  };
  for (auto bytes = source.next(); !bytes.empty(); bytes = source.next()) {
    if (bytes.find('\0') != std::string::npos) {
      out.is_text = false;
      return out;
    }
    for (char c : bytes) {
      bool full = static_cast<int64_t>(out.lines.size()) == count || shown >= bytes_max;
      if (full) {
        out.has_more = true;
        return out;
      }
      if (c == '\n') {
        end_line();
        continue;
      }
      open = true;
      if (number < first) continue;
      if (shown + line.size() < bytes_max) {
        line += c;
      } else {
        out.cut = true;
      }
    }
  }
  if (open) end_line();
  for (auto& shown_line : out.lines) {
    if (is_utf8(shown_line)) continue;
    // Removes the bytes of a character that was cut at the end of a long line.
    for (int i = 0; out.cut && i < 3 && !shown_line.empty() && !is_utf8(shown_line); ++i)
      shown_line.pop_back();
    out.is_text = out.is_text && is_utf8(shown_line);
  }
  return out;
}

namespace {

// A partially parsed row.
struct OpenRow {
  std::vector<std::string> values = std::vector<std::string>(1);
  bool quoted = false;  // inside quotes

  void read(std::string_view line, char separator) {
    for (size_t i = 0; i < line.size(); ++i) {
      char c = line[i];
      if (c == '"' && quoted && i + 1 < line.size() && line[i + 1] == '"') {
        values.back() += c;
        ++i;
      } else if (c == '"' && (quoted || values.back().empty())) {
        quoted = !quoted;
      } else if (c == separator && !quoted) {
        values.emplace_back();
      } else {
        values.back() += c;
      }
    }
  }
};

}  // namespace

std::vector<std::string> split_row(std::string_view line, char separator) {
  OpenRow row;
  row.read(line, separator);
  return std::move(row.values);
}

Rows split_rows(const std::vector<std::string>& lines, char separator, bool has_more) {
  Rows out;
  bool may_close = true;  // false once a quote is never closed: every further line is a row
  while (out.lines_used < lines.size()) {
    OpenRow row;
    size_t next = out.lines_used;
    row.read(lines[next++], separator);
    while (row.quoted && may_close && next < lines.size()) {
      row.values.back() += '\n';
      row.read(lines[next++], separator);
    }
    if (row.quoted) {
      if (has_more && !out.rows.empty()) break;
      may_close = false;
      row.values = split_row(lines[out.lines_used], separator);
      next = out.lines_used + 1;
    }
    out.rows.push_back(std::move(row.values));
    out.lines_used = next;
  }
  return out;
}

char table_separator(std::string_view mime, std::string_view path) {
  if (mime.starts_with("text/csv") || path.ends_with(".csv")) return ',';
  if (mime.starts_with("text/tab-separated-values") || path.ends_with(".tsv")) return '\t';
  return 0;
}

bool is_text_mime(std::string_view mime) {
  mime = mime.substr(0, mime.find(';'));
  return mime.starts_with("text/") || mime.ends_with("+json") || mime.ends_with("+xml") ||
         mime == "application/json" || mime == "application/xml" || mime == "application/javascript" ||
         mime == "application/x-sh" || mime == "application/x-yaml" || mime == "application/toml" ||
         mime == "application/sql" || mime == "application/x-ndjson";
}

std::string read_whole(workspace::KeepContext& context, const workspace::Version& version, size_t bytes_max) {
  if (version.size > bytes_max)
    throw Error(Code::too_large, "the file has " + human_size(version.size) + "; the limit for one call is " +
                                     human_size(bytes_max))
        .hint("Read it in parts, work on it with run_python, or download it by its link.");
  return workspace::ContentReader(context, version.sha256, 0, version.size).read_all();
}

}  // namespace sk::api::mcp
