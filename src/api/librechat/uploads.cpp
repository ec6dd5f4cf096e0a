// POST /upload and /upload/batch: each form creates a session for its files, from which executions take them.
#include "api/common/conditions.h"
#include "api/common/need_interpreter.h"
#include "api/common/upload.h"
#include "api/librechat/librechat.h"
#include "api/librechat/session.h"
#include "api/vendor/containers.h"
#include "base/path.h"
#include "base/text.h"
#include "http/multipart.h"

namespace sk::api::librechat {

namespace {

using http::Reply;
using interpreter::SessionInfo;

constexpr size_t kFieldBytesMax = 64 << 10;

// Whether one bad file fails the whole form.
enum class OnBadFile { refuse, tell };

// The state of one file of a form.
struct Incoming {
  std::string filename;  // as sent
  std::string error;     // the reason why it was refused
  workspace::PutChange change;
};

class UploadSink final : public http::BodySink {
 public:
  UploadSink(std::shared_ptr<Call> call, OnBadFile on_bad_file)
      : call_(std::move(call)),
        on_bad_file_(on_bad_file),
        workspace_(call_->app.keep.workspaces().open_default(call_->actor, workspace::Right::write)),
        parser_(http::multipart_boundary(call_->request.headers.get("Content-Type")),
                {.begin = [this](const http::MultipartPart& part) { begin_part(part); },
                 .data = [this](std::string_view bytes) { part_bytes(bytes); },
                 .end = [this] { end_part(); }},
                {.parts_max = call_->app.settings.multipart_parts_max}) {
    need_interpreter(call_->app);
  }

  void piece(std::string_view bytes) override { parser_.feed(bytes); }
  Reply end() override;

 private:
  enum class Part { field, file, skipped };

  void begin_part(const http::MultipartPart& part);
  void part_bytes(std::string_view bytes);
  void end_part();
  void bad_file(const Error& error);
  const SessionInfo& session();
  Reply answer_one(const std::vector<workspace::ChangeResult>& results);
  Reply answer_batch(const std::vector<workspace::ChangeResult>& results);

  const std::shared_ptr<Call> call_;
  const OnBadFile on_bad_file_;
  const workspace::Authority workspace_;
  http::MultipartParser parser_;
  Part part_ = Part::field;
  std::string field_name_, field_value_;
  Json fields_ = Json::object();
  std::optional<SessionInfo> session_;  // created with the first file, after the fields that describe it
  std::optional<workspace::Intake> intake_;
  std::vector<Incoming> files_;
};

const SessionInfo& UploadSink::session() {
  if (session_) return *session_;
  interpreter::NewSession wanted;
  wanted.name = "librechat-upload";
  wanted.labels = {{"librechat_upload",
                    {{"kind", fields_.value("kind", "user")},
                     {"id", fields_.value("id", fields_.value("entity_id", ""))},
                     {"version", fields_.value("version", "")},
                     {"read_only", ascii_lower(fields_.value("read_only", "")) == "true"}}}};
  auto& interpreter = need_interpreter(call_->app);
  session_ = interpreter.create(
      call_->app.keep.workspaces().open_default(call_->actor, workspace::Right::write), wanted);
  return *session_;
}

void UploadSink::begin_part(const http::MultipartPart& part) {
  if (!part.filename) {
    part_ = Part::field;
    field_name_ = part.name;
    field_value_.clear();
    return;
  }
  part_ = Part::file;
  files_.push_back({.filename = *part.filename, .error = "", .change = {}});
  try {
    auto& change = files_.back().change;
    change.path = join_path(session().folder, clean_file_path(*part.filename));
    change.conditions = lock_tokens_from_headers(call_->request.headers);
    change.source.detail = detail_of_put(session());
    if (!part.content_type.empty()) change.mime = stated_mime(part.content_type);
    intake_.emplace(call_->app.keep.context());
  } catch (const Error& error) {
    bad_file(error);
  }
}

void UploadSink::part_bytes(std::string_view bytes) {
  if (part_ == Part::skipped) return;
  if (part_ == Part::field) {
    if (field_value_.size() + bytes.size() > kFieldBytesMax)
      throw Error(Code::too_large, "the form's field '" + field_name_ + "' is too long");
    field_value_ += bytes;
    return;
  }
  try {
    intake_->write(bytes);
  } catch (const Error& error) {
    bad_file(error);
  }
}

void UploadSink::end_part() {
  if (part_ == Part::field) {
    if (is_utf8(field_value_) && is_utf8(field_name_)) fields_[field_name_] = field_value_;
    return;
  }
  if (part_ == Part::file) {
    files_.back().change.content = intake_->finish();
    intake_.reset();
  }
}

// Discards the rest of the part, so that the following files can still be accepted.
void UploadSink::bad_file(const Error& error) {
  if (on_bad_file_ == OnBadFile::refuse || error.http_status() >= 500) throw error;
  files_.back().error = error.message();
  intake_.reset();
  part_ = Part::skipped;
}

Reply UploadSink::end() {
  parser_.finish();
  if (files_.empty())
    throw Error(Code::bad_request, "No files provided").hint("Send the file as the part 'file'.");
  std::vector<workspace::Change> changes;
  for (auto& file : files_)
    if (file.error.empty()) changes.emplace_back(std::move(file.change));
  std::vector<workspace::ChangeResult> results;
  if (!changes.empty()) results = call_->app.keep.files().apply(workspace_, std::move(changes));
  return on_bad_file_ == OnBadFile::refuse ? answer_one(results) : answer_batch(results);
}

Reply UploadSink::answer_one(const std::vector<workspace::ChangeResult>& results) {
  Json files = Json::array();
  for (size_t i = 0; i < results.size(); ++i)
    files.push_back({{"fileId", results[i].version->id.base64url21()}, {"filename", files_[i].filename}});
  auto id = session().id.base64url21();
  return Reply::json(
      {{"message", "success"}, {"session_id", id}, {"storage_session_id", id}, {"files", files}});
}

Reply UploadSink::answer_batch(const std::vector<workspace::ChangeResult>& results) {
  Json files = Json::array();
  size_t taken = 0;
  for (const auto& file : files_) {
    if (!file.error.empty()) {
      files.push_back({{"status", "error"}, {"filename", file.filename}, {"error", file.error}});
      continue;
    }
    files.push_back({{"status", "success"},
                     {"fileId", results[taken++].version->id.base64url21()},
                     {"filename", file.filename}});
  }
  size_t failed = files_.size() - taken;
  const char* message = failed == 0 ? "success" : taken == 0 ? "error" : "partial_success";
  auto id = session().id.base64url21();
  Json out = {{"message", message}, {"session_id", id},   {"storage_session_id", id},
              {"files", files},     {"succeeded", taken}, {"failed", failed}};
  return Reply::json(out, taken == 0 ? 400 : 200);
}

}  // namespace

void add_upload_routes(Mounts& mounts) {
  mounts.add_streaming({.method = "POST",
                        .pattern = "/upload",
                        .id = "librechat_upload",
                        .tag = "librechat",
                        .summary = "Stores a file for later executions",
                        .body_kind = BodyKind::multipart},
                       [](std::shared_ptr<Call> call) {
                         return std::make_unique<UploadSink>(std::move(call), OnBadFile::refuse);
                       });
  mounts.add_streaming({.method = "POST",
                        .pattern = "/upload/batch",
                        .id = "librechat_upload_batch",
                        .tag = "librechat",
                        .summary = "Stores several files, and reports for each whether it was accepted",
                        .body_kind = BodyKind::multipart},
                       [](std::shared_ptr<Call> call) {
                         return std::make_unique<UploadSink>(std::move(call), OnBadFile::tell);
                       });
}

}  // namespace sk::api::librechat
