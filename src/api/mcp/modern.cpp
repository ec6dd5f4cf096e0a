#include "api/mcp/modern.h"

#include <algorithm>

#include "api/mcp/hub.h"
#include "base/text.h"

namespace sk::api::mcp {

namespace {

constexpr std::string_view kVersionKey = "io.modelcontextprotocol/protocolVersion";
constexpr std::string_view kCapabilitiesKey = "io.modelcontextprotocol/clientCapabilities";

bool is_legacy_version(std::string_view version) {
  return std::find(std::begin(kLegacyVersions), std::end(kLegacyVersions), version) !=
         std::end(kLegacyVersions);
}

[[noreturn]] void mismatch(std::string message) {
  throw RpcError(rpc_code::header_mismatch, std::move(message), nullptr, kBadRequest);
}

// Decodes "=?base64?…?=", which encodes text that a header cannot hold. Returns other values unchanged.
std::string decoded(std::string_view value, std::string_view name) {
  constexpr std::string_view kStart = "=?base64?", kEnd = "?=";
  value = trim(value);
  if (!value.starts_with(kStart) || !value.ends_with(kEnd) || value.size() < kStart.size() + kEnd.size())
    return std::string(value);
  auto text = from_base64(value.substr(kStart.size(), value.size() - kStart.size() - kEnd.size()));
  if (!text) mismatch("the header " + std::string(name) + " is not valid base64");
  return *text;
}

void check_header(const http::Headers& headers, const std::string& name, const std::string& expected) {
  auto value = headers.get(name);
  if (!value) mismatch("the header " + name + " is missing");
  if (decoded(*value, name) != expected) mismatch("the header " + name + " does not match the body");
}

// Returns the field of params that Mcp-Name repeats; empty for methods without one.
std::string_view named_field(std::string_view method) {
  if (method == "tools/call" || method == "prompts/get") return "name";
  if (method == "resources/read") return "uri";
  if (method == "tasks/get" || method == "tasks/update" || method == "tasks/cancel") return "taskId";
  return {};
}

std::string header_text(const Json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

// Checks the headers that repeat arguments which a tool's schema marks with x-mcp-header.
void check_argument_headers(Turn& turn) {
  const auto& name = field_in(turn.params(), "name");
  const auto* tool =
      name.is_string() ? turn.hub.find_tool(name.get<std::string>(), turn.call.actor) : nullptr;
  if (tool == nullptr) return;
  const auto& arguments = field_in(turn.params(), "arguments");
  const auto schema = tool->input_schema();
  for (const auto& [field, rules] : field_in(schema, "properties").items()) {
    const auto& header = field_in(rules, "x-mcp-header");
    const auto& value = field_in(arguments, field);
    if (header.is_string() && !value.is_null())
      check_header(turn.call.request.headers, "Mcp-Param-" + header.get<std::string>(), header_text(value));
  }
}

void check_meta(Turn& turn) {
  const auto& version = field_in(turn.meta(), kVersionKey);
  const auto& capabilities = field_in(turn.meta(), kCapabilitiesKey);
  if (!version.is_string() || !capabilities.is_object())
    throw RpcError(rpc_code::invalid_params,
                   "params._meta must have io.modelcontextprotocol/protocolVersion and /clientCapabilities",
                   nullptr, kBadRequest);
  turn.capabilities = capabilities;
  check_header(turn.call.request.headers, "MCP-Protocol-Version", version.get<std::string>());
  if (version == kModernVersion) return;
  Json supported = Json::array({kModernVersion});
  for (auto legacy : kLegacyVersions) supported.push_back(legacy);
  throw RpcError(rpc_code::unsupported_version, "this server does not support that version of the protocol",
                 {{"supported", std::move(supported)}, {"requested", version}}, kBadRequest);
}

}  // namespace

bool is_modern(const http::Headers& headers, const RpcMessage& message) {
  auto header = headers.get("MCP-Protocol-Version");
  if (header && trim(*header) == kModernVersion) return true;
  if (header && is_legacy_version(trim(*header))) return false;
  return field_in(message.params, "_meta").contains(std::string(kVersionKey));
}

void check_modern(Turn& turn) {
  check_meta(turn);
  const auto& headers = turn.call.request.headers;
  check_header(headers, "Mcp-Method", turn.message.method);
  auto field = named_field(turn.message.method);
  const auto& name = field_in(turn.params(), field);
  if (name.is_string()) check_header(headers, "Mcp-Name", name.get<std::string>());
  if (turn.message.method == "tools/call") check_argument_headers(turn);
}

}  // namespace sk::api::mcp
