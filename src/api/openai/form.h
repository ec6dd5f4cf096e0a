// A form with one file, as OpenAI's clients send it. The file is streamed into the store. The other fields
// are text and may come before or after it.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "api/common/call.h"
#include "api/common/upload.h"
#include "http/multipart.h"
#include "workspace/files.h"

namespace sk::api::openai {

struct FormRules {
  std::string file_field;             // the name of the file part
  std::vector<std::string> fields;    // text fields; others are ignored and reported
  std::optional<uint64_t> bytes_max;  // in addition to the server's limit for a file
};

// The received form. The content is durable.
struct Form {
  std::map<std::string, std::string> fields;
  std::optional<std::string> filename;  // of the file, if there was one
  workspace::PutChange change;          // content and type; no path yet
};

// One thread at a time.
class FormSink final : public http::BodySink {
 public:
  // Makes the reply; may throw. Also called for a form without a file.
  using Finish = std::function<http::Reply(Call&, Form&)>;
  // Error(unsupported_media_type) when the request is not a form.
  FormSink(std::shared_ptr<Call> call, FormRules rules, Finish finish);

  void piece(std::string_view bytes) override { parser_.feed(bytes); }
  http::Reply end() override;

 private:
  void begin_part(const http::MultipartPart& part);
  void part_bytes(std::string_view bytes);
  void end_part();

  std::shared_ptr<Call> call_;
  const FormRules rules_;
  const Finish finish_;
  http::MultipartParser parser_;
  Form form_;
  std::optional<workspace::Intake> intake_;  // the file being received
  std::optional<std::string> field_name_;    // the text field being received
};

// Error(bad_request) when the form has no file.
void need_file(const Form& form, const FormRules& rules);

// Receives a JSON body of at most 1 MiB, where a form is also accepted. One thread at a time.
class JsonSink final : public http::BodySink {
 public:
  using Finish = std::function<http::Reply(Call&, const Body&)>;
  JsonSink(std::shared_ptr<Call> call, const Fields& fields, Finish finish)
      : call_(std::move(call)), fields_(fields), finish_(std::move(finish)) {}

  void piece(std::string_view bytes) override;
  http::Reply end() override;

 private:
  std::shared_ptr<Call> call_;
  const Fields& fields_;
  const Finish finish_;
  std::string text_;
};

bool is_form(const http::Request& request);

}  // namespace sk::api::openai
