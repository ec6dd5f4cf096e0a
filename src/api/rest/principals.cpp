// Principals and their keys.
#include "api/common/shapes.h"
#include "api/rest/rest.h"

namespace sk::api::rest {

namespace {

using http::Reply;
namespace prefix = workspace::prefix;

// One hundred years. For a longer life, clients should omit the expiry.
constexpr int64_t kKeyLifeMaxS = 100ll * 365 * 86'400;

Reply list_principals(Call& call) {
  return Reply::json(list_json(call.app.keep.access().list_principals(call.actor), principal_json));
}

Reply create_principal(Call& call) {
  auto kind = call.body.text("kind").value_or("agent");
  auto principal = call.app.keep.access().create_principal(call.actor, call.body.need_text("name"), kind);
  return Reply::json(principal_json(principal), 201);
}

// Unlike in other objects, null is not the same as a missing field: it returns to the server's setting.
identity::LimitChanges limit_changes(const Json& wanted) {
  const Fields known = {{.name = "quota_bytes", .type = FieldType::integer, .about = ""},
                        {.name = "workspaces_max", .type = FieldType::integer, .about = ""},
                        {.name = "keys_max", .type = FieldType::integer, .about = ""},
                        {.name = "sessions_max", .type = FieldType::integer, .about = ""},
                        {.name = "sessions_kept_max", .type = FieldType::integer, .about = ""}};
  Body limits(known, wanted, "limits.");
  auto change = [&](const std::string& name) -> identity::LimitChange {
    if (!wanted.contains(name)) return std::nullopt;
    auto value = limits.integer(name);
    if (!value) return std::optional<uint64_t>();
    return std::optional(static_cast<uint64_t>(within(*value, 0, INT64_MAX, "limits." + name)));
  };
  return {.quota_bytes = change("quota_bytes"),
          .workspaces_max = change("workspaces_max"),
          .keys_max = change("keys_max"),
          .sessions_max = change("sessions_max"),
          .sessions_kept_max = change("sessions_kept_max")};
}

Reply change_principal(Call& call) {
  auto id = parse_id(call.request.param("principal"), prefix::principal, "principal");
  auto& access = call.app.keep.access();
  auto suspends = call.body.boolean("suspended");
  bool has_limits = call.body.has("limits");
  if (!suspends && !has_limits) throw Error(Code::bad_request, "pass 'suspended' or 'limits'");
  identity::Principal changed;
  if (has_limits) changed = access.set_limits(call.actor, id, limit_changes(call.body.object("limits")));
  if (suspends) changed = *suspends ? access.suspend(call.actor, id) : access.resume(call.actor, id);
  return Reply::json(principal_json(changed));
}

Reply list_keys(Call& call) {
  return Reply::json(list_json(call.app.keep.access().list_keys(call.actor), key_json));
}

std::optional<TimeUs> expiry_of(const Call& call) {
  auto at = call.body.time("expires_at");
  auto in_s = call.body.integer("expires_in_s");
  if (at && in_s) throw Error(Code::bad_request, "pass 'expires_at' or 'expires_in_s', not both");
  if (!in_s) return at;
  return call.app.clock.now_us() + within(*in_s, 1, kKeyLifeMaxS, "expires_in_s") * kSecondUs;
}

Reply create_key(Call& call) {
  identity::NewKey wanted;
  wanted.name = call.body.need_text("name");
  wanted.read_only = call.body.boolean("read_only").value_or(false);
  wanted.expires_us = expiry_of(call);
  auto principal = call.actor.principal();
  if (auto text = call.body.text("principal_id"))
    principal = parse_id(*text, prefix::principal, "principal_id");
  if (auto name = call.body.text("workspace"))
    wanted.only_workspace = call.app.keep.workspaces().open_for(call.actor, principal, *name).id;
  auto made = call.app.keep.access().create_key(call.actor, principal, wanted);
  return Reply::json({{"key", key_json(made.info)}, {"secret", made.secret}}, 201);
}

Reply revoke_key(Call& call) {
  call.app.keep.access().revoke_key(call.actor, parse_id(call.request.param("key"), prefix::key, "key"));
  return Reply::empty(204);
}

void add_key_routes(Routes& routes) {
  routes.add({.method = "GET",
              .pattern = kRoot + "/keys",
              .id = "list_keys",
              .tag = "keys",
              .summary = "Lists your keys; for administrators, all keys",
              .answers = {{200, "The keys, without their secrets.", "KeyList"}}},
             list_keys);
  routes.add(
      {.method = "POST",
       .pattern = kRoot + "/keys",
       .id = "create_key",
       .tag = "keys",
       .summary = "Creates a key with at most the rights of the key that requests it",
       .body_kind = BodyKind::json,
       .body =
           {{.name = "name", .about = "A name that tells what the key is for.", .required = true},
            {.name = "principal_id",
             .about = "The principal of the key. Only administrators may name another one."},
            {.name = "read_only", .type = FieldType::boolean, .about = "Whether the key may only read."},
            {.name = "workspace",
             .about =
                 "The id or name of the only workspace that the key opens. Its principal must be a member."},
            {.name = "expires_at",
             .type = FieldType::time,
             .about =
                 "When the key expires, at the latest with the key that creates it. Default: with that key."},
            {.name = "expires_in_s", .type = FieldType::integer, .about = "The same, in seconds from now."}},
       .answers = {{201, "The key and its secret, which is not shown again.", "MadeKey"}},
       .errors = {Code::forbidden, Code::not_found, Code::quota_exceeded}},
      create_key);
  routes.add({.method = "DELETE",
              .pattern = kRoot + "/keys/{key}",
              .id = "revoke_key",
              .tag = "keys",
              .summary = "Revokes a key at once",
              .answers = {{204, "The key is revoked."}},
              .errors = {Code::forbidden, Code::not_found}},
             revoke_key);
}

}  // namespace

void add_principal_routes(Routes& routes) {
  routes.add({.method = "GET",
              .pattern = kRoot + "/principals",
              .id = "list_principals",
              .tag = "keys",
              .summary = "Lists all principals; for administrators",
              .answers = {{200, "The principals.", "PrincipalList"}},
              .errors = {Code::forbidden}},
             list_principals);
  routes.add({.method = "POST",
              .pattern = kRoot + "/principals",
              .id = "create_principal",
              .tag = "keys",
              .summary = "Creates a person or agent with its own workspace `default`; for administrators",
              .details = "It has no key yet: create one with `POST /api/v1/keys` and its `principal_id`.",
              .body_kind = BodyKind::json,
              .body = {{.name = "name", .about = "Unique among principals.", .required = true},
                       {.name = "kind", .about = "Default: `agent`.", .choices = {"person", "agent"}}},
              .answers = {{201, "The principal.", "Principal"}},
              .errors = {Code::forbidden, Code::conflict}},
             create_principal);
  routes.add(
      {.method = "PATCH",
       .pattern = kRoot + "/principals/{principal}",
       .id = "change_principal",
       .tag = "keys",
       .summary = "Suspends or resumes a principal, or sets its limits; for administrators",
       .details =
           "The keys and tokens of a suspended principal are refused, and what goes on with them ends. Its "
           "workspaces, files and links stay. What is above a new limit also stays, and only more is "
           "refused.",
       .body_kind = BodyKind::json,
       .body = {{.name = "suspended",
                 .type = FieldType::boolean,
                 .about = "True suspends the principal, false resumes it."},
                {.name = "limits",
                 .type = FieldType::object,
                 .about =
                     "Limits of this principal: `quota_bytes` (of all its workspaces together; 0: none), "
                     "`workspaces_max`, `keys_max`, `sessions_max` (running at once), "
                     "`sessions_kept_max`. null returns to the server's setting; limits that are not "
                     "named stay."}},
       .answers = {{200, "The principal.", "Principal"}},
       .errors = {Code::forbidden, Code::not_found, Code::conflict}},
      change_principal);
  add_key_routes(routes);
}

}  // namespace sk::api::rest
