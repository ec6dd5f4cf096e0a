#include "api/openai/errors.h"

#include "api/vendor/error_words.h"
#include "http/server.h"

namespace sk::api::openai {

namespace {

enum class Retry { as_usual, never };

// Sandkeep's error code in the form that OpenAI's clients expect.
struct Look {
  int status;
  std::string_view type;
  std::string_view code;
  Retry retry = Retry::as_usual;
};

Look look_of(const Error& error) {
  constexpr std::string_view kInvalid = "invalid_request_error";
  switch (error.code()) {
    case Code::unauthorized:
      return {401, kInvalid, "invalid_api_key"};
    case Code::forbidden:
      return {403, kInvalid, "insufficient_permissions"};
    case Code::conflict:
      return {409, kInvalid, "conflict", Retry::never};
    case Code::too_many_requests:
      return {429, "rate_limit_error", "rate_limit_exceeded"};
    case Code::quota_exceeded:
      return {429, "insufficient_quota", "insufficient_quota", Retry::never};
    case Code::disk_full:
      return {507, "server_error", "disk_full", Retry::never};
    case Code::not_implemented:
      return {501, "server_error", "not_implemented", Retry::never};
    default: {
      int status = error.http_status();
      return {status, status >= 500 ? std::string_view("server_error") : kInvalid, info(error.code()).name};
    }
  }
}

// Explains unknown paths to clients that look for the rest of OpenAI's API.
std::string unknown_path_message(const http::Request& request) {
  return request.method + " " + request.path +
         " is not available: this server runs code and stores files, and has no models. It has /containers, "
         "/files and /uploads. To run code without a model, use POST /v1/containers/{container_id}/exec.";
}

// Advice about sessions, which are containers here.
constexpr AdviceWords kContainerWords[] = {
    {Advice::end_a_session, "Wait until an execution in one of your containers ends."},
    {Advice::create_other_session, "Create another container. The files of this one are in the workspace."},
    {Advice::keep_files_first,
     "Remove the reason, such as a full quota, and delete the container again: that keeps them first. "
     "?force=true deletes the container with them."},
};

std::string hint_of(const http::Request& request, const Error& error) {
  for (const auto& words : kContainerWords)
    if (error.advice() == words.advice) return error.hint(kContainerWords);
  return vendor_hint(request, error);
}

std::string message_of(const http::Request& request, const Error& error) {
  if (error.code() == Code::not_found && request.route.empty()) return unknown_path_message(request);
  std::string message = error.message();
  if (!message.empty() && !message.ends_with('.')) message += ".";
  if (auto hint = hint_of(request, error); !hint.empty()) message.append(" ").append(hint);
  return message;
}

Json param_of(const Error& error) {
  for (const auto& [name, value] : error.facts())
    if (name == "field")
      if (auto text = std::get_if<std::string>(&value)) return *text;
  return nullptr;
}

}  // namespace

http::Reply error_reply(const http::Request& request, const Error& domain_error) {
  Error error = with_mounted_paths(request, domain_error);
  Look look = look_of(error);
  Json body = {{"message", message_of(request, error)},
               {"type", look.type},
               {"param", param_of(error)},
               {"code", look.code}};
  auto reply = http::Reply::json({{"error", std::move(body)}}, look.status);
  if (look.status == 401) reply.headers.set("WWW-Authenticate", "Bearer");
  if (look.retry == Retry::never) reply.headers.set("x-should-retry", "false");
  return reply;
}

}  // namespace sk::api::openai
