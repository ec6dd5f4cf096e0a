// Several changes in one transaction: all of them or none.
#include "api/common/conditions.h"
#include "api/common/shapes.h"
#include "api/common/upload.h"
#include "api/rest/changes.h"
#include "api/rest/rest.h"
#include "base/path.h"
#include "base/text.h"

namespace sk::api::rest {

namespace {

using http::Reply;
using workspace::Right;

Field op_field() {
  return {.name = "op",
          .about = "The operation.",
          .required = true,
          .choices = {"put", "mkdir", "move", "copy", "trash", "restore_version", "set"}};
}

Field path_field(std::string about) { return {.name = "path", .about = std::move(about), .required = true}; }

Fields put_fields() {
  return {path_field("The path of the file."),
          {.name = "content", .about = "Its bytes, as text."},
          {.name = "content_base64", .about = "Its bytes in base64."},
          {.name = "mime", .about = "Its MIME type. Default: detected."},
          {.name = "mode", .about = "Its permissions in octal."},
          {.name = "mtime", .type = FieldType::time, .about = "Time of the last change of its content."},
          {.name = "base", .about = "The version id that the change is based on."}};
}

// Returns the fields of an `op`. They live as long as the program, because bodies refer to them.
const Fields& fields_of(const std::string& op) {
  static const std::map<std::string, Fields> all = {
      {"put", Fields{op_field()} + put_fields() + condition_fields()},
      {"mkdir", Fields{op_field()} + mkdir_fields() + condition_fields()},
      {"move", Fields{op_field()} + move_fields() + condition_fields()},
      {"copy", Fields{op_field()} + copy_fields() + condition_fields()},
      {"trash", Fields{op_field(), path_field("The path to move to the trash.")} + condition_fields()},
      {"restore_version", Fields{op_field()} + restore_version_fields() + condition_fields()},
      {"set", Fields{op_field(), path_field("The path of the entry.")} + set_fields() + condition_fields()},
  };
  return all.at(op);
}

std::string op_of(const Json& change, const std::string& where) {
  auto op = change.find("op");
  bool known = op != change.end() && op->is_string();
  if (known) {
    const auto choices = op_field().choices;
    known = std::find(choices.begin(), choices.end(), op->get<std::string>()) != choices.end();
  }
  if (!known) {
    throw Error(Code::bad_request,
                "'" + where + "op' must be put, mkdir, move, copy, trash, restore_version or set")
        .with("field", where + "op");
  }
  return op->get<std::string>();
}

std::string content_of(const Body& body) {
  auto text = body.text("content");
  auto encoded = body.text("content_base64");
  if (text.has_value() == encoded.has_value()) {
    throw Error(Code::bad_request, "'" + body.label("content") + "' or '" + body.label("content_base64") +
                                       "' must be given, and not both");
  }
  if (text) return *text;
  auto bytes = from_base64(*encoded);
  if (!bytes) throw Error(Code::bad_request, "'" + body.label("content_base64") + "' is not base64");
  return *bytes;
}

workspace::PutChange put_change(App& app, const Body& body, workspace::Conditions conditions) {
  workspace::PutChange change;
  change.path = clean_file_path(body.need_text("path"));
  if (auto mime = body.text("mime")) change.mime = parse_mime(*mime, body.label("mime"));
  if (auto mode = body.text("mode")) change.mode = parse_mode(*mode, body.label("mode"));
  change.mtime_us = body.time("mtime");
  if (auto base = body.text("base"))
    change.base = parse_id(*base, workspace::prefix::version, body.label("base"));
  change.conditions = std::move(conditions);
  workspace::Intake intake(app.keep.context());
  intake.write(content_of(body));
  change.content = intake.finish();
  return change;
}

workspace::Change change_of(Call& call, const std::string& op, const Body& body) {
  auto conditions = conditions_from_fields(lock_tokens_from_headers(call.request.headers), body);
  if (op == "put") return put_change(call.app, body, std::move(conditions));
  if (op == "mkdir") return mkdir_change(body, std::move(conditions));
  if (op == "move") return move_change(body, std::move(conditions));
  if (op == "copy") return copy_change(call, body, std::move(conditions));
  if (op == "restore_version") return restore_version_change(body, std::move(conditions));
  auto path = clean_file_path(body.need_text("path"));
  if (op == "set") return set_change(std::move(path), body, std::move(conditions));
  return workspace::TrashChange{.path = std::move(path), .conditions = std::move(conditions)};
}

Reply apply_batch(Call& call) {
  const auto& wanted = call.body.objects("changes");
  if (wanted.size() > call.app.settings.batch_operations_max) {
    throw Error(Code::too_large, "a batch may have at most " +
                                     std::to_string(call.app.settings.batch_operations_max) + " changes");
  }
  std::vector<workspace::Change> changes;
  for (size_t i = 0; i < wanted.size(); ++i) {
    auto where = "changes[" + std::to_string(i) + "].";
    auto op = op_of(wanted[i], where);
    changes.push_back(change_of(call, op, Body(fields_of(op), wanted[i], where)));
  }
  auto workspace = call.open_workspace(Right::write);
  auto results = call.app.keep.files().apply(workspace, std::move(changes));
  Json items = Json::array();
  for (const auto& result : results) items.push_back(change_json(result, call.request.base_url));
  return Reply::json({{"items", std::move(items)}});
}

}  // namespace

void add_batch_routes(Routes& routes) {
  routes.add(
      {.method = "POST",
       .pattern = kWorkspace + "/batch",
       .id = "apply_batch",
       .tag = "files",
       .summary = "Several changes in one transaction: all of them or none",
       .details = "Each change is an object with `op` (put, mkdir, move, copy, trash, restore_version, set) "
                  "and the fields of the call of that name; `put` has `path` and `content` (text) or "
                  "`content_base64`, and `mime`, `mode`, `mtime`, `base`. Each may carry `if_match`, "
                  "`if_none_match`, `lock_tokens` and `fence`; `X-Sandkeep-Lock` and `X-Sandkeep-Fence` hold "
                  "for all of them. Later changes see the effect of earlier ones.",
       .body_kind = BodyKind::json,
       .body = {{.name = "changes",
                 .type = FieldType::object_list,
                 .about = "The changes, applied in this order.",
                 .required = true}},
       .answers = {{200, "The result of each change, in order.", "ChangeResultList"}},
       .errors = {Code::forbidden, Code::not_found, Code::conflict, Code::precondition_failed,
                  Code::too_large, Code::locked, Code::quota_exceeded},
       .opens_locks = true},
      apply_batch);
}

}  // namespace sk::api::rest
