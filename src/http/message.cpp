#include "http/message.h"

#include <strings.h>

namespace sk::http {

namespace {

bool same_name(std::string_view a, std::string_view b) {
  return a.size() == b.size() && ::strncasecmp(a.data(), b.data(), a.size()) == 0;
}

}  // namespace

void Headers::set(std::string name, std::string value) {
  bool replaced = false;
  std::erase_if(fields_, [&](auto& field) {
    if (!same_name(field.first, name)) return false;
    if (replaced) return true;
    field.second = std::move(value);
    replaced = true;
    return false;
  });
  if (!replaced) add(std::move(name), std::move(value));
}

void Headers::remove(std::string_view name) {
  std::erase_if(fields_, [&](const auto& field) { return same_name(field.first, name); });
}

std::optional<std::string> Headers::get(std::string_view name) const {
  for (const auto& field : fields_)
    if (same_name(field.first, name)) return field.second;
  return std::nullopt;
}

std::optional<std::string> Headers::get_list(std::string_view name) const {
  std::optional<std::string> joined;
  for (const auto& field : fields_) {
    if (!same_name(field.first, name)) continue;
    if (joined)
      *joined += ", " + field.second;
    else
      joined = field.second;
  }
  return joined;
}

size_t Headers::count(std::string_view name) const {
  return static_cast<size_t>(std::count_if(fields_.begin(), fields_.end(),
                                           [&](const auto& field) { return same_name(field.first, name); }));
}

std::optional<std::string> Request::query_value(std::string_view name) const {
  for (const auto& [key, value] : query)
    if (key == name) return value;
  return std::nullopt;
}

const std::string& Request::param(std::string_view name) const {
  auto found = params.find(name);
  SK_CHECK(found != params.end(), "route " + route + " has no parameter " + std::string(name));
  return found->second;
}

Reply Reply::json(const Json& value, int status) { return text(to_text(value), "application/json", status); }

Reply Reply::text(std::string text, std::string_view content_type, int status) {
  Reply reply;
  reply.status = status;
  reply.headers.set("Content-Type", std::string(content_type));
  reply.body = std::move(text);
  return reply;
}

Reply Reply::empty(int status) {
  Reply reply;
  reply.status = status;
  return reply;
}

Reply Reply::redirect(std::string location, int status) {
  Reply reply = empty(status);
  reply.headers.set("Location", std::move(location));
  return reply;
}

Reply Reply::deferred(std::shared_ptr<Deferred> deferred) {
  Reply reply;
  reply.body = std::move(deferred);
  return reply;
}

Reply Reply::events(std::shared_ptr<EventStream> stream) {
  Reply reply;
  reply.headers.set("Content-Type", "text/event-stream");
  reply.headers.set("Cache-Control", "no-cache");
  reply.headers.set("X-Accel-Buffering", "no");  // keeps nginx from buffering events
  reply.body = std::move(stream);
  return reply;
}

}  // namespace sk::http
