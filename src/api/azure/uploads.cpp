// Uploads into a session: multipart forms, streamed.
#include "api/azure/azure.h"
#include "api/azure/file_json.h"
#include "api/azure/session.h"
#include "api/common/multipart_upload.h"
#include "api/vendor/containers.h"

namespace sk::api::azure {

namespace {

using interpreter::SessionInfo;

class PoolUpload final : public MultipartSink {
 public:
  PoolUpload(std::shared_ptr<Call> call, SessionInfo session, Family family)
      : MultipartSink(call, open_workspace(*call, session, workspace::Right::write)),
        session_(std::move(session)),
        folder_(call->query.text("path").value_or("")),
        family_(family) {}

 protected:
  // semantic-kernel sends the full path "/mnt/data/x" as the filename; other clients send only the name.
  std::string path_for(const http::MultipartPart& part) override {
    return workspace_path(session_, folder_, *part.filename);
  }
  Json source_detail() override { return detail_of_put(session_); }
  // No form field has a meaning here.
  void field(const std::string&, const std::string&) override {}

  http::Reply answer(const std::vector<workspace::ChangeResult>& results) override {
    if (family_ == Family::b) return http::Reply::json(family_b_file(results.front().entry, session_));
    Json value = Json::array();
    for (const auto& result : results)
      value.push_back(family_a_file(result.entry, session_, 2 * value.size() + 2));
    return http::Reply::json({{"$id", "1"}, {"value", value}});
  }

 private:
  const SessionInfo session_;
  const std::string folder_;
  const Family family_;
};

std::unique_ptr<http::BodySink> receive(const std::shared_ptr<Call>& call, Family family) {
  return std::make_unique<PoolUpload>(call, use_session(*call, identifier_of(*call)), family);
}

}  // namespace

void add_upload_routes(Pools& pools) {
  const Field path = {.name = "path", .about = "The folder. Default: /mnt/data."};
  pools.add_streaming({.method = "POST",
                       .pattern = "/files/upload",
                       .id = "azure_upload",
                       .tag = "azure",
                       .summary = "Uploads files into a session (family A)",
                       .query = {path},
                       .body_kind = BodyKind::multipart,
                       .conditional_write = true},
                      [](const std::shared_ptr<Call>& call) { return receive(call, Family::a); });
  pools.add_streaming({.method = "POST",
                       .pattern = "/files",
                       .id = "azure_create_file",
                       .tag = "azure",
                       .summary = "Uploads a file into a session (family B)",
                       .query = {path},
                       .body_kind = BodyKind::multipart,
                       .conditional_write = true},
                      [](const std::shared_ptr<Call>& call) { return receive(call, Family::b); });
}

}  // namespace sk::api::azure
