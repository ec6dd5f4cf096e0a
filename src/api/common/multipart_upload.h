// Files of a form on their way into the store: each part streamed, all of them put in one transaction at the
// end.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "api/common/call.h"
#include "api/common/upload.h"
#include "http/multipart.h"
#include "workspace/files.h"

namespace sk::api {

// Where a multipart/form-data body goes. Derived classes decide what a part is and what the answer says.
class MultipartSink : public http::BodySink {
 public:
  // Error(unsupported_media_type) when the request is no form.
  MultipartSink(std::shared_ptr<Call> call, workspace::Authority workspace);

  void piece(std::string_view bytes) final;
  http::Reply end() final;

 protected:
  // The path that a file part gets; throws for one that is not wanted.
  virtual std::string path_for(const http::MultipartPart& part) = 0;
  // A part without a filename, whole; throws for one that is not wanted.
  virtual void field(const std::string& name, const std::string& value) = 0;
  // Of the source of every file's version.
  virtual Json source_detail() { return Json::object(); }
  virtual http::Reply answer(const std::vector<workspace::ChangeResult>& results) = 0;

  Call& call() { return *call_; }
  const workspace::Authority& workspace() const { return workspace_; }

 private:
  void begin_part(const http::MultipartPart& part);
  void part_bytes(std::string_view bytes);
  void end_part();

  std::shared_ptr<Call> call_;
  const workspace::Authority workspace_;
  const workspace::Conditions conditions_;
  http::MultipartParser parser_;
  std::optional<workspace::Intake> intake_;  // of the file part that is coming in
  workspace::PutChange change_;              // of that part
  std::string field_name_, field_value_;
  std::vector<workspace::Change> changes_;
};

}  // namespace sk::api
