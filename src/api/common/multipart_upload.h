// Uploads of multipart forms. Each part is streamed into the store; one transaction at the end puts all
// files.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "api/common/call.h"
#include "api/common/upload.h"
#include "http/multipart.h"
#include "workspace/files.h"

namespace sk::api {

// Receives a multipart/form-data body. Derived classes decide the meaning of a part and the reply. One thread
// at a time.
class MultipartSink : public http::BodySink {
 public:
  // Error(unsupported_media_type) when the request is not a form.
  MultipartSink(std::shared_ptr<Call> call, workspace::Authority workspace);

  void piece(std::string_view bytes) final;
  http::Reply end() final;

 protected:
  // Returns the path for a file part; throws to reject the part.
  virtual std::string path_for(const http::MultipartPart& part) = 0;
  // Receives a complete part without a filename; throws to reject the part.
  virtual void field(const std::string& name, const std::string& value) = 0;
  // Returns the source detail of every file's version.
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
  std::optional<workspace::Intake> intake_;  // the file part being received
  workspace::PutChange change_;              // the change for that part
  std::string field_name_, field_value_;
  std::vector<workspace::Change> changes_;
};

}  // namespace sk::api
