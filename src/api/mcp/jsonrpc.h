// JSON-RPC 2.0 as MCP uses it: one message per body, ids that are numbers or texts, params that are objects.
#pragma once

#include <exception>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/json.h"

namespace sk::api::mcp {

inline constexpr int kBadRequest = 400;  // the HTTP status of a message that is none

// Codes that more than one place needs. The first five are JSON-RPC's own.
namespace rpc_code {
inline constexpr int parse_error = -32700;
inline constexpr int invalid_request = -32600;
inline constexpr int method_not_found = -32601;
inline constexpr int invalid_params = -32602;
inline constexpr int internal = -32603;
inline constexpr int server = -32000;              // everything of ours that has no code there
inline constexpr int resource_not_found = -32002;  // until 2025-11-25
inline constexpr int header_mismatch = -32020;     // from 2026-07-28 on, as the two below
inline constexpr int missing_capability = -32021;
inline constexpr int unsupported_version = -32022;
}  // namespace rpc_code

// A request that fails as a whole, beside the one error type: the protocol's codes are no codes of the
// domain. Thrown by this dialect, caught in it.
class RpcError : public std::exception {
 public:
  RpcError(int code, std::string message, Json data = nullptr, int http_status = 200)
      : code_(code), http_status_(http_status), message_(std::move(message)), data_(std::move(data)) {}

  int code() const { return code_; }
  int http_status() const { return http_status_; }  // that the newer protocol wants for it
  const std::string& message() const { return message_; }
  const Json& data() const { return data_; }
  // Of a request that could not be read, where so much of it could; else null.
  const Json& id() const { return id_; }
  void set_id(Json id) { id_ = std::move(id); }
  const char* what() const noexcept override { return message_.c_str(); }

 private:
  int code_;
  int http_status_;
  std::string message_;
  Json data_;
  Json id_;
};

// The domain's error as a JSON-RPC one: code by what it is about, the hint (in terms of tools and their
// arguments) and the facts as data.
RpcError to_rpc_error(const Error& error);

struct Message {
  enum class Kind { request, notification, response } kind = Kind::request;
  Json id;  // a number or a text, kept as it was sent
  std::string method;
  Json params = Json::object();
  Json result, error;  // of a response
};

// Throws RpcError(parse_error) or RpcError(invalid_request), both with HTTP 400.
Message parse_message(std::string_view body);

Json result_message(const Json& id, Json result);
Json error_message(const Json& id, const RpcError& error);
Json notification_message(std::string_view method, Json params);

// The field of an object, or null.
const Json& member(const Json& object, std::string_view name);
// params[name] as text. RpcError(invalid_params) when it is missing or no text.
std::string need_text(const Json& params, std::string_view name);

}  // namespace sk::api::mcp
