#include "api/rest/openapi.h"

#include "base/text.h"

namespace sk::api::rest {

namespace {

Json field_schema(const Field& field) {
  Json schema;
  switch (field.type) {
    case FieldType::text:
      schema = {{"type", "string"}};
      break;
    case FieldType::integer:
      schema = {{"type", "integer"}};
      break;
    case FieldType::boolean:
      schema = {{"type", "boolean"}};
      break;
    case FieldType::time:
      schema = {{"type", "string"}, {"format", "date-time"}};
      break;
    case FieldType::text_list:
      schema = {{"type", "array"}, {"items", {{"type", "string"}}}};
      break;
    case FieldType::object:
      schema = {{"type", "object"}};
      break;
    case FieldType::object_list:
      schema = {{"type", "array"}, {"items", {{"type", "object"}}}};
      break;
  }
  if (!field.choices.empty()) schema["enum"] = field.choices;
  return schema;
}

Json body_schema(const Fields& fields) {
  Json properties = Json::object();
  Json required = Json::array();
  for (const auto& field : fields) {
    properties[field.name] = field_schema(field);
    properties[field.name]["description"] = field.about;
    if (field.required) required.push_back(field.name);
  }
  Json schema = {{"type", "object"}, {"properties", std::move(properties)}, {"additionalProperties", false}};
  if (!required.empty()) schema["required"] = std::move(required);
  return schema;
}

std::string_view param_about(std::string_view name) {
  if (name == "ws") return "The workspace's id or name.";
  if (name == "path")
    return "A path in the workspace. Its slashes are written as they are, each name percent-encoded.";
  if (name == "version") return "A version's id.";
  if (name == "file") return "A file's id.";
  if (name == "key") return "A key's id.";
  if (name == "lock") return "A lock's id.";
  if (name == "conversation") return "The conversation, as your app calls it: up to 200 bytes without '/'.";
  if (name == "message") return "The message, as your app calls it: up to 200 bytes without '/'.";
  if (name == "principal") return "A principal's id.";
  if (name == "name") return "The file's name; any name will do.";
  return "";
}

Json header_param(std::string name, std::string about) {
  return {{"name", std::move(name)},
          {"in", "header"},
          {"description", std::move(about)},
          {"schema", {{"type", "string"}}}};
}

Json parameters(const Operation& operation) {
  Json out = Json::array();
  for (const auto& name : pattern_params(operation.pattern)) {
    out.push_back({{"name", name},
                   {"in", "path"},
                   {"required", true},
                   {"description", param_about(name)},
                   {"schema", {{"type", "string"}}}});
  }
  for (const auto& field : operation.query) {
    out.push_back({{"name", field.name},
                   {"in", "query"},
                   {"required", field.required},
                   {"description", field.about},
                   {"schema", field_schema(field)}});
  }
  if (operation.conditional_write) {
    out.push_back(header_param("If-Match", "Version ids, one of which must be the current one; or `*`."));
    out.push_back(header_param("If-None-Match", "`*`: nothing may exist there."));
    out.push_back(header_param("If-Unmodified-Since",
                               "A date in the format of `Last-Modified`; `If-Match` is more exact."));
  }
  if (operation.conditional_write || operation.opens_locks) {
    out.push_back(header_param("X-Sandkeep-Lock", "Tokens of the locks that you hold."));
    out.push_back(header_param("X-Sandkeep-Fence", "The fencing number of your lock."));
  }
  if (operation.takes_idempotency_key)
    out.push_back(header_param("Idempotency-Key",
                               "Your key for this request, up to 255 bytes. A request with the same key "
                               "within a day gets the answer of the first one."));
  return out;
}

Json request_body(const Operation& operation) {
  Json content = Json::object();
  Json bytes = {{"schema", Json::object()}};
  Json form = {{"schema", {{"type", "object"}}}};
  switch (operation.body_kind) {
    case BodyKind::none:
      return nullptr;
    case BodyKind::json:
      content["application/json"] = {{"schema", body_schema(operation.body)}};
      break;
    case BodyKind::form:
      content["application/x-www-form-urlencoded"] = {{"schema", body_schema(operation.body)}};
      break;
    case BodyKind::bytes:
      content["*/*"] = bytes;
      break;
    case BodyKind::multipart:
      content["multipart/form-data"] = form;
      break;
    case BodyKind::bytes_or_multipart:
      content["*/*"] = bytes;
      content["multipart/form-data"] = form;
      break;
  }
  bool required = operation.body_kind != BodyKind::json;
  for (const auto& field : operation.body) required = required || field.required;
  return {{"required", required}, {"content", std::move(content)}};
}

// Errors that any operation can return, independent of what it does.
std::vector<Code> common_errors(const Operation& operation) {
  std::vector<Code> codes = {Code::bad_request};
  if (operation.auth == Auth::key) codes.push_back(Code::unauthorized);
  if (!operation.health_check) codes.push_back(Code::too_many_requests);
  if (operation.body_kind == BodyKind::json) {
    codes.push_back(Code::too_large);
    codes.push_back(Code::unsupported_media_type);
  }
  return codes;
}

Json responses(const Operation& operation) {
  Json out = Json::object();
  for (const auto& answer : operation.answers) {
    Json response = {{"description", answer.about}};
    bool has_body = answer.status != 204 && answer.status != 304;
    if (!answer.schema.empty()) {
      response["content"][answer.content_type] = {{"schema", schema_ref(answer.schema)}};
    } else if (has_body) {
      response["content"][answer.content_type] = Json::object();
    }
    out[std::to_string(answer.status)] = std::move(response);
  }
  auto codes = common_errors(operation);
  codes.insert(codes.end(), operation.errors.begin(), operation.errors.end());
  std::map<int, std::string> names;
  for (auto code : codes) {
    auto& text = names[info(code).http_status];
    if (text.find(info(code).name) == std::string::npos)
      text += (text.empty() ? "" : ", ") + std::string(info(code).name);
  }
  for (const auto& [status, text] : names) {
    out[std::to_string(status)] = {{"description", text + "."},
                                   {"content", {{"application/json", {{"schema", schema_ref("Error")}}}}}};
  }
  return out;
}

Json operation_json(const Operation& operation) {
  Json out = {{"operationId", operation.id}, {"tags", {operation.tag}}, {"summary", operation.summary}};
  if (!operation.details.empty()) out["description"] = operation.details;
  if (operation.auth != Auth::key) out["security"] = Json::array();
  if (auto all = parameters(operation); !all.empty()) out["parameters"] = std::move(all);
  if (auto body = request_body(operation); !body.is_null()) out["requestBody"] = std::move(body);
  out["responses"] = responses(operation);
  return out;
}

Json security_schemes() {
  return {{"bearer", {{"type", "http"}, {"scheme", "bearer"}, {"description", "The key."}}},
          {"basic",
           {{"type", "http"}, {"scheme", "basic"}, {"description", "The key as password; any user name."}}},
          {"header", {{"type", "apiKey"}, {"in", "header"}, {"name", "X-API-Key"}}}};
}

}  // namespace

Json openapi_document(const Operations& operations, const std::string& version, const std::string& base_url) {
  Json paths = Json::object();
  for (const auto& operation : operations) {
    if (operation->hidden) continue;
    paths[openapi_path(operation->pattern)][ascii_lower(operation->method)] = operation_json(*operation);
  }
  return {
      {"openapi", "3.1.0"},
      {"info",
       {{"title", "Sandkeep"},
        {"version", version},
        {"description", "Files that outlive the session, with versions, locks and a journal."},
        {"license", {{"name", "Apache-2.0"}, {"identifier", "Apache-2.0"}}}}},
      {"servers", Json::array({{{"url", base_url}}})},
      {"security",
       Json::array({{{"bearer", Json::array()}}, {{"basic", Json::array()}}, {{"header", Json::array()}}})},
      {"paths", std::move(paths)},
      {"components", {{"schemas", answer_schemas()}, {"securitySchemes", security_schemes()}}},
  };
}

}  // namespace sk::api::rest
