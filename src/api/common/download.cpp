#include "api/common/download.h"

#include "api/dialects.h"
#include "base/path.h"
#include "base/text.h"
#include "http/conditional.h"
#include "http/content_disposition.h"
#include "http/range.h"
#include "http/server.h"
#include "workspace/content.h"

namespace sk::api {

namespace {

http::PieceSource::Piece to_piece(workspace::ContentPiece piece) {
  if (piece.file) return http::FileRange{std::move(piece.file), piece.offset, piece.size};
  return std::move(piece.bytes);
}

// Opens the pieces of a content one after the other while they are sent.
class ContentPieces final : public http::PieceSource {
 public:
  ContentPieces(workspace::ContentReader reader, std::optional<workspace::ContentPiece> first)
      : reader_(std::move(reader)), first_(std::move(first)) {}

  std::optional<Piece> next() override {
    auto piece = first_ ? std::exchange(first_, std::nullopt) : reader_.next();
    if (!piece) return std::nullopt;
    return to_piece(std::move(*piece));
  }

 private:
  workspace::ContentReader reader_;
  std::optional<workspace::ContentPiece> first_;
};

// For HEAD, which only needs the length: never asked for its pieces.
class NoPieces final : public http::PieceSource {
 public:
  std::optional<Piece> next() override { return std::nullopt; }
};

http::Reply::Body content_body(App& app, const http::Request& request, const Sha256& content,
                               const http::ByteRange& range) {
  if (range.size == 0) return std::string();
  if (request.method == "HEAD") return http::Reply::Pieces{range.size, std::make_shared<NoPieces>()};
  workspace::ContentReader reader(app.keep.context(), content, range.first, range.size);
  // Opens and verifies the first piece before the headers are sent. A missing piece then yields an error
  // reply instead of a broken connection.
  auto first = reader.next();
  SK_CHECK(first.has_value());
  if (first->size == range.size) {
    return std::visit([](auto piece) -> http::Reply::Body { return piece; }, to_piece(std::move(*first)));
  }
  return http::Reply::Pieces{range.size,
                             std::make_shared<ContentPieces>(std::move(reader), std::move(first))};
}

http::Reply range_error(const http::Request& request, uint64_t size) {
  Error error(Code::range_not_satisfiable,
              "the file has " + std::to_string(size) + " bytes; the requested range is outside of it");
  auto reply = dialect_error_reply(request, error);
  reply.headers.set("Content-Range", http::content_range_unsatisfiable(size));
  reply.headers.set("Accept-Ranges", "bytes");
  return reply;
}

void add_common_headers(http::Headers& headers, const workspace::Version& version,
                        const DownloadOptions& options) {
  headers.set("ETag", etag_of(version.id));
  headers.set("Last-Modified", http::to_http_date(version.created_us));
  headers.set("Cache-Control", options.cache_control);
}

void add_content_headers(http::Headers& headers, const workspace::Version& version,
                         const DownloadOptions& options) {
  headers.set("Content-Type", content_type_of(version.mime));
  auto disposition = options.attachment ? http::Disposition::download : http::Disposition::show;
  headers.set("Content-Disposition", http::content_disposition(disposition, split_path(version.path).second));
  headers.set("Accept-Ranges", "bytes");
  add_content_guards(headers, version.mime);
}

}  // namespace

std::string etag_of(const Id& version) {
  return http::quote_etag(version.with_prefix(workspace::prefix::version));
}

std::string content_type_of(std::string_view mime) {
  if (mime.empty()) return "application/octet-stream";
  bool bare_text = mime.starts_with("text/") && mime.find("charset") == std::string_view::npos;
  return bare_text ? std::string(mime) + "; charset=utf-8" : std::string(mime);
}

void add_content_guards(http::Headers& headers, std::string_view mime) {
  headers.set("X-Content-Type-Options", "nosniff");
  // Browsers show a PDF in their own viewer, which the CSP sandbox would block. Scripts in a PDF cannot reach
  // the origin.
  // A browser may read a comma as the start of a second type.
  bool pdf = ascii_lower(trim(mime.substr(0, mime.find(';')))) == "application/pdf" &&
             mime.find(',') == std::string_view::npos;
  std::string policy =
      pdf ? "default-src 'none'; object-src 'self'; " : "sandbox; default-src 'none'; img-src 'self' data:; ";
  headers.set("Content-Security-Policy",
              policy + "style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'");
}

http::Reply download(App& app, const http::Request& request, const workspace::Version& version,
                     const DownloadOptions& options) {
  http::Validators validators{version.id.with_prefix(workspace::prefix::version), version.created_us};
  auto verdict = http::evaluate_conditions(request, validators);
  if (verdict == http::Verdict::precondition_failed) {
    throw Error(Code::precondition_failed, quoted_path(version.path) + " does not match If-Match")
        .with("current_version_id", validators.etag);
  }
  http::Reply reply;
  add_common_headers(reply.headers, version, options);
  if (verdict == http::Verdict::not_modified) {
    reply.status = 304;
    return reply;
  }
  http::RangeChoice choice;
  if (http::if_range_holds(request.headers, validators))
    choice = http::choose_range(request.headers.get("Range"), version.size);
  if (choice.kind == http::RangeChoice::Kind::unsatisfiable) return range_error(request, version.size);
  http::ByteRange range{0, version.size};
  if (choice.kind == http::RangeChoice::Kind::partial) {
    range = choice.range;
    reply.status = 206;
    reply.headers.set("Content-Range", http::content_range(range, version.size));
  }
  add_content_headers(reply.headers, version, options);
  reply.body = content_body(app, request, version.sha256, range);
  return reply;
}

}  // namespace sk::api
