// POST /blob: stores one file without a path. Takes raw bytes, or the field `file` of a form.
#include "api/common/conditions.h"
#include "api/common/multipart_upload.h"
#include "api/common/upload.h"
#include "api/rest/rest.h"
#include "base/path.h"
#include "base/text.h"
#include "workspace/links.h"

namespace sk::api::rest {

namespace {

using http::Reply;
using workspace::Right;
namespace prefix = workspace::prefix;

Reply blob_reply(Call& call, const workspace::Authority& workspace, const workspace::ChangeResult& result) {
  const auto& version = *result.version;
  const auto& base = call.request.base_url;
  auto id = version.id.with_prefix(prefix::version);
  return Reply::json({{"file_id", version.file.with_prefix(prefix::file)},
                      {"version_id", id},
                      {"blob_id", id},
                      {"size", version.size},
                      {"sha256", version.sha256.hex()},
                      {"mime", version.mime},
                      {"path", version.path},
                      {"link", base + workspace::Links::path_of(version)},
                      {"signed_link", base + call.app.keep.links().signed_path_of(workspace, version)}},
                     201);
}

std::string path_in_folder(const Call& call, std::string_view name) {
  auto folder = clean_path(call.query.text("folder").value_or(""));
  return clean_file_path(join_path(folder, clean_file_path(name)));
}

// Returns the name that the client gives, or else a unique name.
std::string wanted_name(const Call& call, const std::optional<std::string>& filename) {
  if (auto name = call.query.text("name")) return *name;
  if (auto name = call.request.headers.get("X-Filename"); name && !trim(*name).empty())
    return std::string(trim(*name));
  if (filename && !filename->empty()) return *filename;
  return "upload-" + call.app.keep.context().ids.next().hex();
}

class RawSink final : public http::BodySink {
 public:
  RawSink(std::shared_ptr<Call> call, workspace::Authority workspace)
      : call_(std::move(call)),
        workspace_(std::move(workspace)),
        intake_(call_->app.keep.context(), {.announced = announced_checksums(call_->request.headers)}) {
    const auto& headers = call_->request.headers;
    change_.path = path_in_folder(*call_, wanted_name(*call_, std::nullopt));
    change_.mime = stated_mime(headers.get("Content-Type"));
    change_.conditions = conditions_from_headers(headers);
    call_->app.keep.files().check_put(workspace_, change_.path, change_.conditions);
  }

  void piece(std::string_view bytes) override { intake_.write(bytes); }

  Reply end() override {
    change_.content = intake_.finish();
    auto result = call_->app.keep.files().apply_one(workspace_, std::move(change_));
    return blob_reply(*call_, workspace_, result);
  }

 private:
  std::shared_ptr<Call> call_;
  const workspace::Authority workspace_;
  workspace::PutChange change_;
  workspace::Intake intake_;
};

class FieldSink final : public MultipartSink {
 public:
  using MultipartSink::MultipartSink;

 protected:
  std::string path_for(const http::MultipartPart& part) override {
    if (part.name != "file" || std::exchange(seen_, true)) {
      throw Error(Code::bad_request, "the form must have one file, in the field 'file'");
    }
    return path_in_folder(call(), wanted_name(call(), part.filename));
  }

  void field(const std::string& name, const std::string&) override {
    throw Error(Code::bad_request,
                "the form's field '" + name + "' is not known here; the file goes into the field 'file'");
  }

  Reply answer(const std::vector<workspace::ChangeResult>& results) override {
    return blob_reply(call(), workspace(), results.front());
  }

 private:
  bool seen_ = false;
};

std::unique_ptr<http::BodySink> post_blob(std::shared_ptr<Call> call) {
  auto name = call->query.text("workspace");
  auto workspace = name ? call->open_workspace(*name, Right::write)
                        : call->app.keep.workspaces().open_default(call->actor, Right::write);
  refuse_encoded(call->request.headers);
  check_announced_size(call->app, call->request.headers);
  auto type = call->request.headers.get("Content-Type");
  if (type && ascii_lower(*type).starts_with("multipart/")) {
    return std::make_unique<FieldSink>(std::move(call), std::move(workspace));
  }
  return std::make_unique<RawSink>(std::move(call), std::move(workspace));
}

}  // namespace

void add_blob_routes(Routes& routes) {
  routes.add_streaming(
      {.method = "POST",
       .pattern = "/blob",
       .id = "post_blob",
       .tag = "files",
       .summary = "Stores one file: raw bytes, or the field `file` of a form",
       .details = "Its name is `name`, the header `X-Filename`, the form's filename, or `upload-…`. An "
                  "existing file of that name gets a new version.",
       .query = {{.name = "name", .about = "The file's name."},
                 {.name = "folder", .about = "The target folder. Default: the root."},
                 {.name = "workspace", .about = "The workspace's id or name. Default: `default`."}},
       .body_kind = BodyKind::bytes_or_multipart,
       .answers = {{201, "The file is stored.", "BlobResult"}},
       .errors = {Code::forbidden, Code::not_found, Code::conflict, Code::precondition_failed,
                  Code::too_large, Code::unsupported_media_type, Code::locked, Code::quota_exceeded,
                  Code::disk_full},
       .conditional_write = true},
      post_blob);
}

}  // namespace sk::api::rest
