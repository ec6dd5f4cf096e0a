// Uploads: a large file in parts. Parts may arrive concurrently; the client gives their order on completion.
#include "workspace/uploads.h"
#include "api/common/aside.h"
#include "api/common/conditions.h"
#include "api/openai/expiry.h"
#include "api/openai/form.h"
#include "api/openai/openai.h"
#include "api/openai/shapes.h"
#include "api/vendor/containers.h"
#include "api/vendor/ignored.h"
#include "base/text.h"

namespace sk::api::openai {

namespace {

using http::Reply;
using workspace::UploadInfo;

constexpr std::string_view kUploadPrefix = "upload_";
constexpr std::string_view kPartPrefix = "part_";

Id upload_of(const Call& call) {
  const auto& text = call.request.param("upload");
  auto id = Id::from_prefixed(text, kUploadPrefix);
  if (!id) throw Error(Code::not_found, "there is no upload '" + text.substr(0, 100) + "'");
  return *id;
}

// Earlier parts of an upload may have been sent with more rights than its owner has now.
workspace::Authority authority_of(const Call& call, const Id& upload) {
  auto workspace = call.app.keep.uploads().workspace_of(call.actor, upload);
  try {
    return call.app.keep.workspaces().enter(call.actor, workspace.with_prefix(workspace::prefix::workspace),
                                            workspace::Right::write);
  } catch (const Error& error) {
    if (error.code() != Code::not_found && error.code() != Code::forbidden) throw;
    throw Error(Code::forbidden, "this key may not write to the upload's workspace any more");
  }
}

Json upload_json(App& app, const workspace::Actor& actor, const UploadInfo& upload,
                 const std::string& base_url) {
  auto file = upload.version ? app.given_files.find(actor, upload.version) : std::nullopt;
  return {{"id", upload.id.with_prefix(kUploadPrefix)},
          {"object", "upload"},
          {"bytes", upload.wanted.size.value_or(0)},
          {"created_at", unix_s(upload.created_us)},
          {"filename", upload.wanted.filename},
          {"purpose", upload.wanted.detail.value("purpose", "")},
          {"status", upload.status},
          {"expires_at", unix_s(upload.expires_us)},
          {"file", file ? file_json(*file, base_url) : Json()}};
}

// A completion that is repeated after its file was deleted has no file to answer with.
void need_file_of(App& app, const workspace::Actor& actor, const UploadInfo& completed) {
  if (!app.given_files.find(actor, completed.version))
    throw Error(Code::gone, "the upload is completed, and its file was deleted since")
        .advise(Advice::create_other_upload);
}

Reply upload_reply(Call& call, const UploadInfo& upload) {
  return Reply::json(upload_json(call.app, call.actor, upload, call.request.base_url));
}

Reply create_upload(Call& call) {
  workspace::NewUpload wanted;
  wanted.filename = call.body.need_text("filename");
  call.app.given_files.place_for(wanted.filename);  // refuses an impossible name now, not at completion
  auto purpose = call.body.need_text("purpose");
  check_purpose(purpose);
  wanted.detail["purpose"] = purpose;
  auto mime = call.body.need_text("mime_type");
  if (!trim(mime).empty()) wanted.mime = stated_mime(parse_mime(mime, "mime_type"));
  wanted.size = static_cast<uint64_t>(within(*call.body.integer("bytes"), 0, INT64_MAX, "bytes"));
  if (auto keep_s = read_expiry(call.body.object("expires_after"), kFileExpiry, call.ignored))
    wanted.detail["keep_s"] = *keep_s;
  auto workspace = call.app.keep.workspaces().open_default(call.actor, workspace::Right::write);
  return upload_reply(call, call.app.keep.uploads().create(workspace, std::move(wanted)));
}

std::unique_ptr<http::BodySink> begin_part(std::shared_ptr<Call> call) {
  call->actor.need_write();
  Id upload = upload_of(*call);
  auto authority = authority_of(*call, upload);
  FormRules rules{.file_field = "data", .fields = {}, .bytes_max = workspace::kUploadPartBytesMax};
  return std::make_unique<FormSink>(
      std::move(call), rules, [upload, authority, rules](Call& asked, Form& form) {
        need_file(form, rules);
        auto part = asked.app.keep.uploads().add_part(authority, upload, form.change.content);
        return Reply::json({{"id", part.id.with_prefix(kPartPrefix)},
                            {"object", "upload.part"},
                            {"created_at", unix_s(part.created_us)},
                            {"upload_id", upload.with_prefix(kUploadPrefix)}});
      });
}

workspace::Uploads::Completion completion_of(Call& call, const UploadInfo& upload) {
  workspace::Uploads::Completion wanted;
  auto ids = call.body.texts("part_ids");
  if (ids.size() > workspace::kUploadPartsMax)
    throw Error(Code::bad_request,
                "an upload has at most " + std::to_string(workspace::kUploadPartsMax) + " parts")
        .with("field", "part_ids");
  auto& parts = wanted.parts.emplace();
  for (const auto& text : ids) {
    auto id = Id::from_prefixed(text, kPartPrefix);
    if (!id)
      throw Error(Code::bad_request, "there is no part '" + text.substr(0, 100) + "'")
          .with("field", "part_ids");
    parts.push_back(*id);
  }
  if (auto md5 = call.body.text("md5")) {
    wanted.md5 = from_hex(ascii_lower(trim(*md5)));
    if (!wanted.md5 || wanted.md5->size() != 16)
      throw Error(Code::bad_request, "'md5' must have 32 hexadecimal digits").with("field", "md5");
  }
  wanted.conditions = lock_tokens_from_headers(call.request.headers);
  wanted.place = call.app.given_files.place_for(upload.wanted.filename);
  wanted.also = [&clock = call.app.clock, given = upload.wanted.detail](auto& tx, const auto& results) {
    Purpose purpose{given.value("purpose", ""), {}};
    if (given.contains("keep_s"))
      purpose.expires_us = clock.now_us() + given["keep_s"].template get<int64_t>() * kSecondUs;
    GivenFiles::give(tx, results[0].entry, purpose);
  };
  return wanted;
}

// Reads all parts, which may be gigabytes, so it does not run on a request's thread.
Reply complete_upload(Call& call) {
  call.actor.need_write();
  auto authority = authority_of(call, upload_of(call));
  auto upload = call.app.keep.uploads().get(authority, upload_of(call));
  auto wanted = completion_of(call, upload);
  return run_aside(call, Aside::transfer,
                   [&app = call.app, authority, id = upload.id, wanted, ignored = call.ignored,
                    base_url = call.request.base_url](const std::atomic<bool>& cancelled) {
                     auto go_on = [&] { return !cancelled && !app.background.stopping(); };
                     auto done = app.keep.uploads().complete(authority, id, wanted, go_on);
                     need_file_of(app, authority.actor(), done);
                     auto reply = Reply::json(upload_json(app, authority.actor(), done, base_url));
                     add_ignored(reply, ignored);
                     return reply;
                   });
}

Reply cancel_upload(Call& call) {
  call.actor.need_write();
  auto upload = upload_of(call);
  return upload_reply(call, call.app.keep.uploads().cancel(authority_of(call, upload), upload));
}

}  // namespace

void add_upload_routes(Routes& routes, const OpenAiMount& mount) {
  auto create = operation(mount, "POST", "/uploads", "create_upload");
  create.body_kind = BodyKind::json;
  create.body = {{.name = "filename", .about = "", .required = true},
                 {.name = "purpose", .about = "", .required = true},
                 {.name = "bytes", .type = FieldType::integer, .about = "", .required = true},
                 {.name = "mime_type", .about = "", .required = true},
                 {.name = "expires_after", .type = FieldType::object, .about = "anchor, seconds"}};
  routes.add(std::move(create), telling_ignored(create_upload));

  auto part = operation(mount, "POST", "/uploads/{upload}/parts", "add_upload_part");
  part.body_kind = BodyKind::multipart;
  routes.add_streaming(std::move(part), begin_part);

  auto complete = operation(mount, "POST", "/uploads/{upload}/complete", "complete_upload");
  complete.body_kind = BodyKind::json;
  complete.body = {{.name = "part_ids", .type = FieldType::text_list, .about = "", .required = true},
                   {.name = "md5", .about = "MD5 of the whole file, in hexadecimal digits."}};
  routes.add(std::move(complete), complete_upload);

  auto cancel = operation(mount, "POST", "/uploads/{upload}/cancel", "cancel_upload");
  cancel.body_kind = BodyKind::json;
  routes.add(std::move(cancel), telling_ignored(cancel_upload));
}

}  // namespace sk::api::openai
