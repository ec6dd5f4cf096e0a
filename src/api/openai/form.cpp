#include "api/openai/form.h"

#include <algorithm>

#include "api/vendor/ignored.h"
#include "base/text.h"

namespace sk::api::openai {

namespace {
// Fields hold words and numbers. Only files may be large.
constexpr size_t kFieldBytesMax = 64 << 10;
constexpr size_t kJsonBytesMax = 1 << 20;
}  // namespace

FormSink::FormSink(std::shared_ptr<Call> call, FormRules rules, Finish finish)
    : call_(std::move(call)),
      rules_(std::move(rules)),
      finish_(std::move(finish)),
      parser_(http::multipart_boundary(call_->request.headers.get("Content-Type")),
              {.begin = [this](const http::MultipartPart& part) { begin_part(part); },
               .data = [this](std::string_view bytes) { part_bytes(bytes); },
               .end = [this] { end_part(); }},
              {.parts_max = call_->app.settings.multipart_parts_max}) {}

http::Reply FormSink::end() {
  parser_.finish();
  auto reply = finish_(*call_, form_);
  add_ignored(reply, call_->ignored);
  return reply;
}

void FormSink::begin_part(const http::MultipartPart& part) {
  field_name_.reset();
  if (part.name == rules_.file_field && part.filename) {
    if (form_.filename)
      throw Error(Code::bad_request, "the form has two files").with("field", rules_.file_field);
    form_.filename = part.filename;
    if (!part.content_type.empty()) form_.change.mime = stated_mime(part.content_type);
    intake_.emplace(call_->app.keep.context(), workspace::IntakeOptions{.size_max = rules_.bytes_max});
    return;
  }
  bool known = part.name == rules_.file_field ||
               std::find(rules_.fields.begin(), rules_.fields.end(), part.name) != rules_.fields.end();
  if (!known) return call_->ignored.push_back(part.name);
  field_name_ = part.name;
  form_.fields[part.name].clear();
}

void FormSink::part_bytes(std::string_view bytes) {
  if (intake_) {
    return intake_->write(bytes);
  }
  if (!field_name_) return;
  auto& value = form_.fields[*field_name_];
  if (value.size() + bytes.size() > kFieldBytesMax)
    throw Error(Code::too_large, "the form's field '" + *field_name_ + "' is too long")
        .with("field", *field_name_)
        .hint("Send files as parts with a filename.");
  value += bytes;
}

void FormSink::end_part() {
  if (!intake_) return;
  form_.change.content = intake_->finish();
  intake_.reset();
}

void need_file(const Form& form, const FormRules& rules) {
  if (form.filename) return;
  throw Error(Code::bad_request,
              "the form has no file: send it as the part '" + rules.file_field + "', with a filename")
      .with("field", rules.file_field);
}

void JsonSink::piece(std::string_view bytes) {
  if (text_.size() + bytes.size() > kJsonBytesMax)
    throw Error(Code::too_large, "the JSON is larger than " + human_size(kJsonBytesMax))
        .hint("Send files as multipart/form-data.");
  text_ += bytes;
}

http::Reply JsonSink::end() {
  Json value = trim(text_).empty() ? Json::object() : parse_json(text_);
  Body body(fields_, std::move(value), "", &call_->ignored);
  auto reply = finish_(*call_, body);
  add_ignored(reply, call_->ignored);
  return reply;
}

bool is_form(const http::Request& request) {
  auto type = request.headers.get("Content-Type");
  return type && ascii_lower(*type).starts_with("multipart/");
}

}  // namespace sk::api::openai
