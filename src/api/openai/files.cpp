// Files: uploads for a purpose, and files that code wrote, each under the id of its version.
#include "api/common/conditions.h"
#include "api/common/download.h"
#include "api/openai/expiry.h"
#include "api/openai/form.h"
#include "api/openai/openai.h"
#include "api/openai/shapes.h"
#include "api/vendor/containers.h"
#include "base/text.h"

namespace sk::api::openai {

namespace {

using http::Reply;

GivenFile file_of(Call& call) {
  const auto& text = call.request.param("file");
  auto id = file_id_from(text);
  auto found = id ? call.app.given_files.find(call.actor, *id) : std::nullopt;
  if (!found)
    throw Error(Code::not_found, "there is no file '" + text.substr(0, 100) + "'")
        .with("field", "id")
        .hint("Ids look like file- and 32 hexadecimal digits.");
  return *found;
}

// Converts the form fields `expires_after[anchor]` and `expires_after[seconds]` to an object.
Json expiry_of(const Form& form) {
  Json out = Json::object();
  for (const auto& [name, value] : form.fields) {
    if (name == "expires_after[anchor]") out["anchor"] = value;
    if (name != "expires_after[seconds]") continue;
    auto number = parse_unsigned(value);
    out["seconds"] = number && *number <= INT64_MAX ? Json(*number) : Json(value);
  }
  return out;
}

Reply create_file(Call& call, Form& form, const FormRules& rules) {
  need_file(form, rules);
  auto purpose = form.fields.find("purpose");
  if (purpose == form.fields.end())
    throw Error(Code::bad_request, "the field 'purpose' is missing").with("field", "purpose");
  check_purpose(purpose->second);
  GivenFile file;
  file.purpose = purpose->second;
  if (auto seconds = read_expiry(expiry_of(form), kFileExpiry, call.ignored))
    file.expires_us = call.app.clock.now_us() + *seconds * kSecondUs;
  form.change.path = call.app.given_files.place_for(*form.filename);
  form.change.conditions = lock_tokens_from_headers(call.request.headers);
  auto workspace = call.app.keep.workspaces().open_default(call.actor, workspace::Right::write);
  std::vector<workspace::Change> changes;
  changes.push_back(std::move(form.change));
  auto made = call.app.keep.files().apply(workspace, std::move(changes), [&](auto& tx, const auto& results) {
    GivenFiles::give(tx, results[0].entry, {file.purpose, file.expires_us});
  });
  file.version = *made[0].version;
  return Reply::json(file_json(file, call.request.base_url));
}

std::unique_ptr<http::BodySink> begin_file(std::shared_ptr<Call> call) {
  call->app.keep.workspaces().open_default(call->actor, workspace::Right::write);
  FormRules rules{.file_field = "file",
                  .fields = {"purpose", "expires_after[anchor]", "expires_after[seconds]"},
                  .bytes_max = {}};
  return std::make_unique<FormSink>(
      std::move(call), rules, [rules](Call& asked, Form& form) { return create_file(asked, form, rules); });
}

Reply list_all(Call& call) {
  constexpr int64_t kMost = 10'000;
  auto query = list_query(call, kMost, kMost);
  GivenQuery wanted;
  wanted.purpose = call.query.text("purpose").value_or("");
  wanted.order = query.order;
  wanted.limit = query.limit + 1;
  if (query.after) {
    auto id = file_id_from(*query.after);
    if (!id) throw Error(Code::bad_request, "'after' must be the id of a file").with("field", "after");
    wanted.after = *id;
  }
  auto found = call.app.given_files.list(call.actor, wanted);
  return Reply::json(list_json(
      found, query.limit, [&](const GivenFile& file) { return file_json(file, call.request.base_url); }));
}

Reply send_content(Call& call) {
  auto version = file_of(call).version;
  call.note("read", version.id.with_prefix(workspace::prefix::version));
  return download(call.app, call.request, version,
                  {.attachment = true, .cache_control = "private, no-cache"});
}

Reply trash_file(Call& call) {
  auto id = file_of(call).version.id;
  call.app.keep.retractions().retract(call.actor, id, lock_tokens_from_headers(call.request.headers));
  return Reply::json({{"id", id.with_prefix(kFilePrefix)}, {"object", "file"}, {"deleted", true}});
}

}  // namespace

void check_purpose(const std::string& purpose) {
  for (auto known : {"assistants", "batch", "fine-tune", "vision", "user_data", "evals"})
    if (purpose == known) return;
  throw Error(Code::bad_request,
              "'purpose' must be one of assistants, batch, fine-tune, vision, user_data, evals")
      .with("field", "purpose");
}

void add_file_routes(Routes& routes, const OpenAiMount& mount) {
  auto create = operation(mount, "POST", "/files", "create_file");
  create.body_kind = BodyKind::multipart;
  routes.add_streaming(std::move(create), begin_file);

  auto list = operation(mount, "GET", "/files", "list_files");
  list.query = list.query + list_fields() + Fields{{.name = "purpose", .about = "Only these."}};
  routes.add(std::move(list), telling_ignored(list_all));

  routes.add(operation(mount, "GET", "/files/{file}", "get_file"), telling_ignored([](Call& call) {
               return Reply::json(file_json(file_of(call), call.request.base_url));
             }));
  routes.add(operation(mount, "GET", "/files/{file}/content", "get_file_content"),
             telling_ignored(send_content));
  routes.add(operation(mount, "DELETE", "/files/{file}", "delete_file"), telling_ignored(trash_file));
}

}  // namespace sk::api::openai
