#include "cli/client/remote.h"

#include <unistd.h>

#include <algorithm>
#include <iostream>

#include "base/error.h"
#include "base/json_reading.h"
#include "base/text.h"
#include "cli/client/fields.h"

namespace sk::cli {

namespace {

std::string encode_query(const Query& query) {
  std::string out;
  for (const auto& [name, value] : query) {
    out += out.empty() ? '?' : '&';
    out += percent_encode(name) + "=" + percent_encode(value);
  }
  return out;
}

http::ClientOptions client_options(const Target& target) {
  http::ClientOptions options;
  options.ca_file = target.ca_file;
  // A server may need time to write a large upload to a slow disk before it answers.
  options.stall_timeout = std::chrono::minutes(5);
  options.busy_wait_max = std::chrono::minutes(2);
  options.on_busy = [] {
    // Programs that read our errors read nothing else there.
    if (::isatty(STDERR_FILENO) == 1) std::cerr << "The server is busy. Trying again for up to 2 minutes…\n";
  };
  return options;
}

Code code_named(std::string_view name, int status) {
  for (const auto& row : all_codes())
    if (row.name == name) return row.code;
  for (const auto& row : all_codes())
    if (row.http_status == status) return row.code;
  return status >= 500 ? Code::internal : Code::bad_request;
}

// How to go on when no server answered; an untrusted certificate is told apart from a server that is not
// there.
Error unreachable(const Error& error, const Target& target) {
  if (error.advice() == Advice::trust_certificate) return error;
  Error out(error.code(), error.message());
  if (target.is_guess)
    return std::move(out).hint(
        "Start a server with 'sandkeep serve', or name yours: --server URL, SANDKEEP_SERVER, or 'sandkeep "
        "login URL'.");
  return std::move(out).hint("Check that the server runs at " + target.server +
                             ". 'sandkeep login URL' saves another address.");
}

void add_facts(Error& error, const Json& fields) {
  for (const auto& [name, value] : fields.items()) {
    if (name == "code" || name == "message" || name == "hint" || name == "advice") continue;
    if (value.is_string()) error.with(name, value.get<std::string>());
    if (value.is_number_integer()) error.with(name, value.get<int64_t>());
  }
}

Json parse_answer(const http::ClientResponse& response) {
  if (trim(response.body).empty()) return nullptr;
  try {
    return parse_json(response.body, "the server's answer");
  } catch (const Error& error) {
    throw Error(Code::internal, error.message()).hint("Check that this is the address of a Sandkeep server.");
  }
}

}  // namespace

std::string key_hint(const Target& target) {
  if (target.key.empty())
    return "Run 'sandkeep login " + target.server +
           "', or set SANDKEEP_KEY. The first key is in root.key in the server's data folder.";
  return "Run 'sandkeep login " + target.server + "' with a valid key, or correct SANDKEEP_KEY or --key.";
}

void WriteConditions::add_to(http::Headers& headers) const {
  auto joined = [](const std::vector<std::string>& values, bool quoted) {
    std::string out;
    for (const auto& value : values) {
      if (!out.empty()) out += ", ";
      out += quoted && value != "*" ? "\"" + value + "\"" : value;
    }
    return out;
  };
  if (!lock_tokens.empty()) headers.set("X-Sandkeep-Lock", joined(lock_tokens, false));
  if (!if_match.empty()) headers.set("If-Match", joined(if_match, true));
  if (if_new) headers.set("If-None-Match", "*");
  if (fence) headers.set("X-Sandkeep-Fence", std::to_string(*fence));
}

Error to_error(const http::ClientResponse& response, const Target& target) {
  auto body = Json::parse(response.body, nullptr, false);
  auto status = std::to_string(response.status);
  const auto& fields = field_in(body, "error");
  if (!fields.is_object()) {
    Error plain(code_named("", response.status), target.server + " answered " + status + " without a reason");
    return std::move(plain).hint("Check that this is the address of a Sandkeep server.");
  }
  auto message = text_in(fields, "message");
  Error out(code_named(text_in(fields, "code"), response.status),
            message.empty() ? "the server answered " + status : message);
  add_facts(out, fields);
  auto known = advice_named(text_in(fields, "advice"));
  if (out.code() == Code::unauthorized && known != Advice::ask_administrator)
    return std::move(out).hint(key_hint(target));
  // The server's hint is for those who write requests; this program has words of its own for what it knows.
  if (known) return std::move(out).advise(*known);
  return std::move(out).hint(text_in(fields, "hint"));
}

http::ClientRequest request_to(std::string method, std::string path) {
  http::ClientRequest request;
  request.method = std::move(method);
  request.url = std::move(path);
  return request;
}

Remote::Remote(Target target) : target_(std::move(target)), client_(client_options(target_)) {}

http::ClientResponse Remote::exchange(http::Client& client, http::ClientRequest request, const Query& query) {
  request.url = target_.server + request.url + encode_query(query);
  if (!target_.key.empty()) request.headers.set("Authorization", "Bearer " + target_.key);
  request.headers.set("User-Agent", "sandkeep-cli");
  http::ClientResponse response;
  try {
    response = client.send(request);
  } catch (const Error& error) {
    if (error.code() != Code::unavailable) throw;
    throw unreachable(error, target_);
  }
  if (response.status >= 400) throw to_error(response, target_);
  return response;
}

http::ClientResponse Remote::send(http::ClientRequest request, const Query& query) {
  return exchange(client_, std::move(request), query);
}

void Remote::stream(const std::string& path, const Query& query,
                    const std::function<void(std::string_view)>& take) {
  auto request = request_to("GET", path);
  request.body_sink = [&](std::string_view bytes) {
    take(bytes);
    return true;
  };
  send(std::move(request), query);
}

Json Remote::call(std::string method, const std::string& path, const Query& query,
                  const std::optional<Json>& body, const http::Headers& headers) {
  auto request = request_to(std::move(method), path);
  request.headers = headers;
  if (body) {
    request.body = to_text(*body);
    request.headers.set("Content-Type", "application/json");
  }
  return parse_answer(send(std::move(request), query));
}

Json Remote::call_patiently(std::string method, const std::string& path, const Query& query) {
  auto options = client_options(target_);
  options.stall_timeout = std::chrono::hours(24 * 7);
  options.retries_max = 0;
  http::Client patient(options);
  return parse_answer(exchange(patient, request_to(std::move(method), path), query));
}

Target Remote::resolved_target() {
  target_.workspace = workspace_of({});
  return target_;
}

std::string Remote::workspace_of(const RemotePath& where) {
  if (!where.workspace.empty()) return where.workspace;
  if (target_.workspace.empty()) target_.workspace = default_workspace(call("GET", "/api/v1/me"));
  return target_.workspace;
}

std::string Remote::workspace_id_of(const RemotePath& where) {
  auto name = workspace_of(where);
  auto known = ids_.find(name);
  if (known != ids_.end()) return known->second;
  auto id = text_field(call("GET", "/api/v1/workspaces/" + percent_encode(name)), "id");
  return ids_.emplace(name, id).first->second;
}

int64_t Remote::limit(std::string_view name, int64_t most) {
  auto server = call("GET", "/api/v1");
  return std::min(most, static_cast<int64_t>(number_field(object_field(server, "limits"), name)));
}

std::string Remote::url(const RemotePath& where, std::string_view what) {
  return "/api/v1/workspaces/" + percent_encode(workspace_of(where)) + "/" + std::string(what);
}

std::string Remote::url_with_path(const RemotePath& where, std::string_view what) {
  return url(where, what) + "/" + percent_encode_path(where.path);
}

std::string default_workspace(const Json& me) {
  auto only = optional_text(object_field(me, "scope"), "workspace_id");
  return only.empty() ? "default" : only;
}

std::optional<Json> find_entry(Remote& remote, const RemotePath& where) {
  try {
    return get_entry(remote, where);
  } catch (const Error& error) {
    if (error.code() == Code::not_found) return std::nullopt;
    throw;
  }
}

Json get_entry(Remote& remote, const RemotePath& where) {
  return remote.call("GET", remote.url_with_path(where, "entries"));
}

void for_each_item(Remote& remote, const std::string& path, Query query,
                   const std::function<void(const Json& item)>& take) {
  auto first_query = query;
  for (;;) {
    auto page = remote.call("GET", path, query);
    for (const auto& item : list_field(page, "items")) take(item);
    if (!flag_field(page, "has_more")) return;
    query = first_query;
    query.emplace_back("cursor", text_field(page, "next_cursor"));
  }
}

}  // namespace sk::cli
