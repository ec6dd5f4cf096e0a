// The page's upload form: streams files into a folder after the form's token is verified.
#include "api/common/multipart_upload.h"
#include "api/page/page.h"
#include "base/path.h"

namespace sk::api::page {

namespace {

using http::Reply;
using workspace::Right;

class UploadFormSink final : public MultipartSink {
 public:
  UploadFormSink(std::shared_ptr<Call> the_call, workspace::Authority the_workspace, std::string folder)
      : MultipartSink(std::move(the_call), std::move(the_workspace)), folder_(std::move(folder)) {}

 protected:
  void field(const std::string& name, const std::string& value) override {
    if (name != "token") throw Error(Code::bad_request, "the form's field '" + name + "' is not known here");
    need_form_user(call(), value);
    token_seen_ = true;
  }

  std::string path_for(const http::MultipartPart& part) override {
    if (!token_seen_) throw Error(Code::forbidden, "the form's token must come before its files");
    if (part.filename->empty())
      throw Error(Code::bad_request, "no file was chosen").hint("Go back and choose one.");
    return clean_file_path(join_path(folder_, *part.filename));
  }

  Reply answer(const std::vector<workspace::ChangeResult>&) override {
    return Reply::redirect(page_path(workspace().workspace(), folder_));
  }

 private:
  const std::string folder_;
  bool token_seen_ = false;
};

// Shows upload errors as a page.
class PageSink final : public http::BodySink {
 public:
  PageSink(std::shared_ptr<Call> call, std::unique_ptr<http::BodySink> inner)
      : call_(std::move(call)), inner_(std::move(inner)) {}

  void piece(std::string_view bytes) override {
    if (failed_) return;
    try {
      inner_->piece(bytes);
    } catch (const Error& error) {
      fail(error);
    }
  }

  Reply end() override {
    if (!failed_) {
      try {
        return inner_->end();
      } catch (const Error& error) {
        fail(error);
      }
    }
    return error_page(*call_, *failed_);
  }

 private:
  // Discards the rest of the body, because browsers show a reply only after they have sent everything.
  void fail(const Error& error) {
    call_->note_denied(error);
    failed_ = error;
    inner_.reset();
  }

  std::shared_ptr<Call> call_;
  std::unique_ptr<http::BodySink> inner_;
  std::optional<Error> failed_;
};

std::unique_ptr<http::BodySink> take_upload(std::shared_ptr<Call> call) {
  need_user(*call);
  auto folder = call->path();
  auto workspace = call->open_workspace(Right::write);
  auto sink = std::make_unique<UploadFormSink>(call, std::move(workspace), std::move(folder));
  return std::make_unique<PageSink>(call, std::move(sink));
}

}  // namespace

void add_upload_form_route(Routes& routes) {
  routes.add_streaming({.method = "POST",
                        .pattern = "/page/upload/{ws}/{path...}",
                        .id = "page_form_upload",
                        .tag = "page",
                        .summary = "Uploads files into a folder",
                        .auth = Auth::maybe,
                        .body_kind = BodyKind::multipart,
                        .answers = {{303, "Done; redirects to the folder.", "", "text/html"}},
                        .conditional_write = true,
                        .hidden = true},
                       take_upload);
}

}  // namespace sk::api::page
