#include "api/mcp/jsonrpc.h"

#include "api/common/advice_words.h"

namespace sk::api::mcp {

namespace {

constexpr size_t kIdBytesMax = 256;

[[noreturn]] void invalid(std::string message) {
  throw RpcError(rpc_code::invalid_request, std::move(message), nullptr, kBadRequest);
}

bool is_id(const Json& id) {
  if (id.is_string()) return id.get_ref<const std::string&>().size() <= kIdBytesMax;
  return id.is_number_integer() || id.is_number_float();
}

int code_of(Code code) {
  switch (code) {
    case Code::bad_request:
      return rpc_code::invalid_params;
    case Code::not_found:
    case Code::gone:
      return rpc_code::resource_not_found;
    case Code::internal:
    case Code::corrupt:
      return rpc_code::internal;
    default:
      return rpc_code::server;
  }
}

RpcMessage read_request(const Json& value) {
  RpcMessage message;
  const auto& method = field_in(value, "method");
  if (!method.is_string()) invalid("'method' must be a string");
  message.method = method.get<std::string>();
  if (value.contains("params")) {
    if (!value["params"].is_object()) invalid("'params' must be an object");
    message.params = value["params"];
  }
  if (!value.contains("id")) {
    message.kind = RpcMessage::Kind::notification;
    return message;
  }
  message.id = value["id"];
  if (!is_id(message.id)) invalid("'id' must be a number or a string of at most 256 bytes");
  return message;
}

}  // namespace

RpcError to_rpc_error(const Error& error) {
  Json data = {{"code", info(error.code()).name}};
  if (auto hint = hint_for(Audience::tools, error); !hint.empty()) data["hint"] = hint;
  for (const auto& [name, value] : error.facts())
    std::visit([&, &key = name](const auto& fact) { data[key] = fact; }, value);
  return RpcError(code_of(error.code()), error.message(), std::move(data));
}

RpcMessage parse_message(std::string_view body, const JsonClaim& claim) {
  Json value;
  try {
    value = parse_json(body, "the request body", claim);
  } catch (const Error& error) {
    if (error.code() == Code::unavailable) throw;
    throw RpcError(rpc_code::parse_error, error.message(), nullptr, kBadRequest);
  }
  if (value.is_array()) invalid("the protocol no longer has batches; send one message at a time");
  if (!value.is_object()) invalid("a message is a JSON object");
  if (field_in(value, "jsonrpc") != "2.0") invalid("'jsonrpc' must be \"2.0\"");
  if (value.contains("method")) {
    try {
      return read_request(value);
    } catch (RpcError& error) {
      // The client waits for an answer with this id.
      if (is_id(field_in(value, "id"))) error.set_id(value["id"]);
      throw;
    }
  }
  RpcMessage message;
  message.kind = RpcMessage::Kind::response;
  message.id = field_in(value, "id");
  message.result = field_in(value, "result");
  message.error = field_in(value, "error");
  if (!value.contains("result") && !value.contains("error"))
    invalid("a message has a 'method', a 'result' or an 'error'");
  if (!is_id(message.id)) invalid("a response needs the 'id' of its request");
  return message;
}

Json result_message(const Json& id, Json result) {
  return {{"jsonrpc", "2.0"}, {"id", id}, {"result", std::move(result)}};
}

Json error_message(const Json& id, const RpcError& error) {
  Json body = {{"code", error.code()}, {"message", error.message()}};
  if (!error.data().is_null()) body["data"] = error.data();
  return {{"jsonrpc", "2.0"}, {"id", id}, {"error", std::move(body)}};
}

Json notification_message(std::string_view method, Json params) {
  return {{"jsonrpc", "2.0"}, {"method", method}, {"params", std::move(params)}};
}

std::string need_text(const Json& params, std::string_view name) {
  const auto& value = field_in(params, name);
  if (value.is_string()) return value.get<std::string>();
  std::string message = "params.";
  message.append(name).append(" must be a string");
  throw RpcError(rpc_code::invalid_params, std::move(message));
}

}  // namespace sk::api::mcp
