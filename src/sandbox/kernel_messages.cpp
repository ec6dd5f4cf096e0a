#include "sandbox/kernel_messages.h"

#include <algorithm>

#include "base/error.h"
#include "base/text.h"

namespace sk::sandbox {

namespace {

[[noreturn]] void refuse(const char* name, const char* expected) {
  throw Error(Code::bad_request, std::string("a frame's '") + name + "' is not " + expected);
}

// Upper bound that is checked without parsing. Ordered objects take quadratic time to build, and a kernel
// sends few fields.
constexpr size_t kFieldsMax = 1'000;

size_t count_fields(std::string_view text) {
  size_t count = 0;
  bool in_string = false;
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (in_string && c == '\\')
      ++i;
    else if (c == '"')
      in_string = !in_string;
    else if (!in_string && c == ':')
      ++count;
  }
  return count;
}

const Json* find(const Json& frame, const char* name) {
  auto at = frame.find(name);
  return at == frame.end() ? nullptr : &*at;
}

}  // namespace

std::string text_field(const Json& frame, const char* name) {
  auto* value = find(frame, name);
  if (!value) return {};
  if (!value->is_string()) refuse(name, "a text");
  return value->get<std::string>();
}

uint64_t number_field(const Json& frame, const char* name) {
  auto* value = find(frame, name);
  if (!value) return 0;
  if (!value->is_number_unsigned()) refuse(name, "a whole number");
  return value->get<uint64_t>();
}

bool flag_field(const Json& frame, const char* name) {
  auto* value = find(frame, name);
  if (!value) return false;
  if (!value->is_boolean()) refuse(name, "true or false");
  return value->get<bool>();
}

Json parse_kernel_frame(const std::string& text) {
  if (count_fields(text) > kFieldsMax)
    throw Error(Code::bad_request, "a frame from a session has too many fields");
  Json frame = parse_json(text, "a frame from a session");
  if (!frame.is_object()) throw Error(Code::bad_request, "a frame from a session is not an object");
  return frame;
}

MimeBundle parse_bundle(const Json& frame) {
  MimeBundle out;
  out.metadata = text_field(frame, "metadata");
  auto* data = find(frame, "data");
  if (!data || !data->is_object()) refuse("data", "an object");
  std::vector<std::string> binary;
  if (auto* list = find(frame, "base64")) {
    if (!list->is_array()) refuse("base64", "a list");
    for (const auto& mime : *list) {
      if (!mime.is_string()) refuse("base64", "a list of texts");
      binary.push_back(mime.get<std::string>());
    }
  }
  for (const auto& [mime, content] : data->items()) {
    if (!content.is_string()) refuse("data", "an object of texts");
    MimeBundle::Part part{mime, content.get<std::string>(), false};
    if (std::find(binary.begin(), binary.end(), mime) != binary.end()) {
      auto bytes = from_base64(part.content);
      if (!bytes) refuse("data", "base64 where it says so");
      part.content = std::move(*bytes);
      part.is_binary = true;
    }
    out.parts.push_back(std::move(part));
  }
  return out;
}

CellError parse_error(const Json& frame) {
  return {text_field(frame, "name"), text_field(frame, "value"), text_field(frame, "traceback")};
}

CellDone parse_done(const Json& frame) {
  CellDone out;
  out.id = text_field(frame, "id");
  auto status = text_field(frame, "status");
  if (status == "ok")
    out.status = CellStatus::ok;
  else if (status == "error")
    out.status = CellStatus::error;
  else if (status == "interrupted")
    out.status = CellStatus::interrupted;
  else
    refuse("status", "ok, error or interrupted");
  out.count = number_field(frame, "count");
  out.wall_us = static_cast<int64_t>(std::min<uint64_t>(number_field(frame, "wall_us"), INT64_MAX));
  out.cpu_us = static_cast<int64_t>(std::min<uint64_t>(number_field(frame, "cpu_us"), INT64_MAX));
  if (find(frame, "exit_code"))
    out.exit_code = static_cast<int>(std::min<uint64_t>(number_field(frame, "exit_code"), 255));
  return out;
}

KernelRequest parse_request(const Json& frame) {
  KernelRequest out{number_field(frame, "id"), text_field(frame, "method"), Json::object()};
  if (auto* params = find(frame, "params")) {
    if (!params->is_object()) refuse("params", "an object");
    out.params = *params;
  }
  return out;
}

}  // namespace sk::sandbox
