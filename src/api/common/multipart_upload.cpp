#include "api/common/multipart_upload.h"

#include "api/common/conditions.h"
#include "api/common/fields.h"

namespace sk::api {

namespace {
// Fields hold tokens and names. Only files may be large.
constexpr size_t kFieldBytesMax = 64 << 10;
}  // namespace

MultipartSink::MultipartSink(std::shared_ptr<Call> call, workspace::Authority workspace)
    : call_(std::move(call)),
      workspace_(std::move(workspace)),
      conditions_(conditions_from_headers(call_->request.headers)),
      parser_(http::multipart_boundary(call_->request.headers.get("Content-Type")),
              {.begin = [this](const http::MultipartPart& part) { begin_part(part); },
               .data = [this](std::string_view bytes) { part_bytes(bytes); },
               .end = [this] { end_part(); }},
              {.parts_max = call_->app.settings.multipart_parts_max}) {}

void MultipartSink::piece(std::string_view bytes) { parser_.feed(bytes); }

http::Reply MultipartSink::end() {
  parser_.finish();
  if (changes_.empty())
    throw Error(Code::bad_request, "the form has no file")
        .hint("Send files as parts with a filename: curl -F file=@NAME.");
  return answer(call_->app.keep.files().apply(workspace_, std::move(changes_)));
}

void MultipartSink::begin_part(const http::MultipartPart& part) {
  if (!part.filename) {
    field_name_ = part.name;
    field_value_.clear();
    return;
  }
  change_ = {};
  change_.path = path_for(part);
  change_.conditions = conditions_;
  change_.source.detail = source_detail();
  if (!part.content_type.empty()) change_.mime = stated_mime(part.content_type);
  intake_.emplace(call_->app.keep.context());
}

void MultipartSink::part_bytes(std::string_view bytes) {
  if (intake_) return intake_->write(bytes);
  if (field_value_.size() + bytes.size() > kFieldBytesMax) {
    throw Error(Code::too_large, "the form's field '" + field_name_ + "' is too long")
        .hint("Send files as parts with a filename.");
  }
  field_value_ += bytes;
}

void MultipartSink::end_part() {
  if (!intake_) return field(field_name_, field_value_);
  change_.content = intake_->finish();
  intake_.reset();
  changes_.emplace_back(std::move(change_));
}

}  // namespace sk::api
