// Uploads: PUT of one file, multipart POST of several. Large content is never held in memory, and an
// incomplete upload leaves nothing behind.
#include "api/common/conditions.h"
#include "api/common/multipart_upload.h"
#include "api/common/shapes.h"
#include "api/common/upload.h"
#include "api/rest/changes.h"
#include "api/rest/rest.h"
#include "base/path.h"
#include "base/text.h"

namespace sk::api::rest {

namespace {

using http::Reply;
using workspace::Right;

class PutSink final : public http::BodySink {
 public:
  PutSink(std::shared_ptr<Call> call, workspace::Authority workspace, workspace::PutChange change)
      : call_(std::move(call)),
        workspace_(std::move(workspace)),
        change_(std::move(change)),
        intake_(call_->app.keep.context(), {.announced = announced_checksums(call_->request.headers)}) {}

  void piece(std::string_view bytes) override { intake_.write(bytes); }

  Reply end() override {
    change_.content = intake_.finish();
    return change_reply(*call_, call_->app.keep.files().apply_one(workspace_, std::move(change_)));
  }

 private:
  std::shared_ptr<Call> call_;
  const workspace::Authority workspace_;
  workspace::PutChange change_;
  workspace::Intake intake_;
};

class FolderSink final : public http::BodySink {
 public:
  FolderSink(std::shared_ptr<Call> call, workspace::Authority workspace, workspace::MkdirChange change)
      : call_(std::move(call)), workspace_(std::move(workspace)), change_(std::move(change)) {}

  void piece(std::string_view bytes) override {
    if (bytes.empty()) return;
    throw Error(Code::bad_request, "a path that ends in '/' names a folder, and a folder has no bytes")
        .hint("Leave the '/' out to write a file.");
  }

  Reply end() override {
    return change_reply(*call_, call_->app.keep.files().apply_one(workspace_, std::move(change_)));
  }

 private:
  std::shared_ptr<Call> call_;
  const workspace::Authority workspace_;
  workspace::MkdirChange change_;
};

// Rejects a form or a compressed body, which would be stored in its encoded form.
void refuse_envelopes(const http::Headers& headers) {
  auto type = headers.get("Content-Type");
  if (type && ascii_lower(*type).starts_with("multipart/form-data")) {
    throw Error(Code::unsupported_media_type, "PUT takes the file's raw bytes, not a form")
        .hint("Use POST for multipart/form-data, or curl -T FILE.");
  }
  refuse_encoded(headers);
}

workspace::PutChange put_from_headers(const http::Headers& headers, std::string path) {
  workspace::PutChange change;
  change.path = std::move(path);
  change.mime = stated_mime(headers.get("Content-Type"));
  if (auto text = headers.get("X-Sandkeep-Mode")) change.mode = parse_mode(trim(*text), "X-Sandkeep-Mode");
  if (auto text = headers.get("X-Sandkeep-Mtime"))
    change.mtime_us = parse_time(trim(*text), "X-Sandkeep-Mtime");
  if (auto text = headers.get("X-Sandkeep-Base"))
    change.base = parse_id(trim(*text), workspace::prefix::version, "X-Sandkeep-Base");
  change.conditions = conditions_from_headers(headers);
  return change;
}

// Returns whether to check a put before its body is sent. A small body has already arrived, and the write
// itself checks again.
bool is_worth_asking(const http::Headers& headers) {
  constexpr uint64_t kSmallBytes = 64 << 10;
  auto text = headers.get("Content-Length");
  auto size = text ? parse_unsigned(trim(*text)) : std::nullopt;
  return !size || *size > kSmallBytes || headers.has("Expect");
}

std::unique_ptr<http::BodySink> put_file(std::shared_ptr<Call> call) {
  if (call->request.headers.has("Content-Range"))
    throw Error(Code::bad_request, "Content-Range is not supported: a file can only be written as a whole")
        .hint("Send the whole file. Nothing was changed.");
  const auto& headers = call->request.headers;
  auto path = call->file_path();
  auto workspace = call->open_workspace(Right::write);
  bool folder = call->request.path.ends_with('/') || call->query.text("kind").value_or("file") == "folder";
  if (folder) {
    workspace::MkdirChange change;
    change.path = path;
    if (auto text = headers.get("X-Sandkeep-Mode")) change.mode = parse_mode(trim(*text), "X-Sandkeep-Mode");
    change.conditions = conditions_from_headers(headers);
    return std::make_unique<FolderSink>(std::move(call), std::move(workspace), std::move(change));
  }
  refuse_envelopes(headers);
  check_announced_size(call->app, headers);
  auto change = put_from_headers(headers, std::move(path));
  if (is_worth_asking(headers)) call->app.keep.files().check_put(workspace, change.path, change.conditions);
  return std::make_unique<PutSink>(std::move(call), std::move(workspace), std::move(change));
}

// Puts every file of the form below a folder under its own name; names may contain folders.
class FormSink final : public MultipartSink {
 public:
  FormSink(std::shared_ptr<Call> call, workspace::Authority workspace, std::string folder)
      : MultipartSink(std::move(call), std::move(workspace)), folder_(std::move(folder)) {}

 protected:
  std::string path_for(const http::MultipartPart& part) override {
    return clean_file_path(join_path(folder_, clean_file_path(*part.filename)));
  }

  void field(const std::string& name, const std::string&) override {
    throw Error(Code::bad_request, "the form's field '" + name + "' is not a file")
        .hint("Every part needs a filename; conditions go into headers.");
  }

  Reply answer(const std::vector<workspace::ChangeResult>& results) override {
    Json items = Json::array();
    for (const auto& result : results) items.push_back(change_json(result, call().request.base_url));
    return Reply::json({{"items", std::move(items)}});
  }

 private:
  const std::string folder_;
};

std::unique_ptr<http::BodySink> post_form(std::shared_ptr<Call> call) {
  auto folder = call->path();
  auto workspace = call->open_workspace(Right::write);
  refuse_encoded(call->request.headers);
  return std::make_unique<FormSink>(std::move(call), std::move(workspace), std::move(folder));
}

}  // namespace

void add_upload_routes(Routes& routes) {
  const auto pattern = kWorkspace + "/files/{path...}";
  routes.add_streaming(
      {.method = "PUT",
       .pattern = pattern,
       .id = "put_file",
       .tag = "files",
       .summary = "Writes a file: a new one, or a new version",
       .details =
           "The body is the file. A path that ends in `/`, or `kind=folder`, makes a folder. `Content-Type` "
           "is kept as the file's type unless it is `application/octet-stream` or curl's "
           "`application/x-www-form-urlencoded`. Headers: `X-Sandkeep-Mode` (octal), `X-Sandkeep-Mtime`, "
           "`X-Sandkeep-Base` (the version that your change is based on: if another one is current by now, "
           "both are kept and the file is marked diverged; 400 if it never was a version at this path), "
           "`X-Sandkeep-Sha256` and `Content-MD5` (checked). The same bytes create no new version, unless "
           "the mode or a stated type differs. A new mtime is set on the file.",
       .query = {{.name = "kind", .about = "Default: `file`.", .choices = {"file", "folder"}}},
       .body_kind = BodyKind::bytes,
       .answers = {{200, "A new version, or the same bytes as before (`unchanged`).", "ChangeResult"},
                   {201, "A new file or folder.", "ChangeResult"}},
       .errors = {Code::forbidden, Code::not_found, Code::conflict, Code::precondition_failed,
                  Code::too_large, Code::unsupported_media_type, Code::locked, Code::quota_exceeded,
                  Code::disk_full},
       .conditional_write = true},
      put_file);
  routes.add_streaming(
      {.method = "POST",
       .pattern = pattern,
       .id = "post_files",
       .tag = "files",
       .summary = "Writes several files below a folder, in one transaction",
       .details = "Each part with a filename becomes a file of that name; the name may have folders in it.",
       .body_kind = BodyKind::multipart,
       .answers = {{200, "The result for each file, in the form's order.", "ChangeResultList"}},
       .errors = {Code::forbidden, Code::not_found, Code::conflict, Code::precondition_failed,
                  Code::too_large, Code::unsupported_media_type, Code::locked, Code::quota_exceeded,
                  Code::disk_full},
       .conditional_write = true},
      post_form);
}

}  // namespace sk::api::rest
