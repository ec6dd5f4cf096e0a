// JSON-RPC 2.0 as MCP uses it: one message per body, ids that are numbers or strings, params that are
// objects.
#pragma once

#include <exception>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/json.h"
#include "base/json_reading.h"

namespace sk::api::mcp {

inline constexpr int kBadRequest = 400;  // the HTTP status of a malformed message

// Codes used in more than one place. The first five come from JSON-RPC.
namespace rpc_code {
inline constexpr int parse_error = -32700;
inline constexpr int invalid_request = -32600;
inline constexpr int method_not_found = -32601;
inline constexpr int invalid_params = -32602;
inline constexpr int internal = -32603;
inline constexpr int server = -32000;              // errors of the domain without a code of their own
inline constexpr int resource_not_found = -32002;  // until 2025-11-25
inline constexpr int header_mismatch = -32020;     // from 2026-07-28 on, as are the two below
inline constexpr int missing_capability = -32021;
inline constexpr int unsupported_version = -32022;
}  // namespace rpc_code

// A request that fails as a whole. A type besides sk::Error, because the protocol's codes are not codes of
// the domain. Thrown and caught only in this dialect.
class RpcError : public std::exception {
 public:
  RpcError(int code, std::string message, Json data = nullptr, int http_status = 200)
      : code_(code), http_status_(http_status), message_(std::move(message)), data_(std::move(data)) {}

  int code() const { return code_; }
  int http_status() const { return http_status_; }  // required by the newer protocol
  const std::string& message() const { return message_; }
  const Json& data() const { return data_; }
  // The id of a malformed request when it could be read; otherwise null.
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

// Converts the domain's error: the code by its kind, the hint (in terms of tools and their arguments) and the
// facts as data.
RpcError to_rpc_error(const Error& error);

struct RpcMessage {
  enum class Kind { request, notification, response } kind = Kind::request;
  Json id;  // a number or a string, unchanged
  std::string method;
  Json params = Json::object();
  Json result, error;  // of a response
};

// Throws RpcError(parse_error) or RpcError(invalid_request), both with HTTP 400.
RpcMessage parse_message(std::string_view body, const JsonClaim& claim = {});

Json result_message(const Json& id, Json result);
Json error_message(const Json& id, const RpcError& error);
Json notification_message(std::string_view method, Json params);

// Returns params[name] as text. RpcError(invalid_params) when it is missing or not text.
std::string need_text(const Json& params, std::string_view name);

}  // namespace sk::api::mcp
