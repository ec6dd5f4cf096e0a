#include "interpreter/sessions/new_session.h"

#include <algorithm>

#include "base/error.h"
#include "base/path.h"
#include "base/text.h"

namespace sk::interpreter {

namespace {

constexpr size_t kEnvironmentMax = 200;
constexpr size_t kVariableBytesMax = 64 << 10;

// Error(bad_request), with the field, for names that a shell does not accept and values that are not text.
void check_environment(const Json& environment) {
  auto refuse = [](const std::string& name, const char* what) {
    return Error(Code::bad_request, "environment." + name + " " + what).with("field", "environment." + name);
  };
  if (environment.size() > kEnvironmentMax)
    throw Error(Code::bad_request, "environment may have at most 200 variables").with("field", "environment");
  for (const auto& [name, value] : environment.items()) {
    bool is_name = !name.empty() && name.size() <= 200 && !(name[0] >= '0' && name[0] <= '9');
    for (char c : name)
      is_name =
          is_name && (c == '_' || (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z'));
    if (!is_name) throw refuse(name, "is not a valid name of a variable");
    if (!value.is_string()) throw refuse(name, "must be text");
    const auto& text = value.get_ref<const std::string&>();
    if (text.size() > kVariableBytesMax) throw refuse(name, "may have at most 64 KiB");
    if (text.find('\0') != std::string::npos) throw refuse(name, "must not contain a zero byte");
  }
}

}  // namespace

void fill_from_request(SessionInfo& info, const NewSession& wanted, const InterpreterOptions& options) {
  info.name = wanted.name.empty() ? "session" : wanted.name;
  if (info.name.size() > 100 || !is_utf8(info.name))
    throw Error(Code::bad_request, "name must be at most 100 bytes of text");
  info.memory_bytes = wanted.memory_bytes.value_or(options.memory_default_bytes);
  if (info.memory_bytes > options.memory_max_bytes)
    throw Error(Code::bad_request,
                "memory may be at most " + human_size(options.memory_max_bytes) + " on this server")
        .advise(Advice::ask_for_less);
  if (info.memory_bytes < (64ull << 20)) throw Error(Code::bad_request, "memory must be at least 64 MiB");
  info.timeout_s = wanted.timeout_s.value_or(options.timeout_default_s);
  info.idle_s = wanted.idle_s.value_or(options.idle_default_s);
  if (info.timeout_s < 1 || info.timeout_s > options.timeout_max_s)
    throw Error(Code::bad_request,
                "timeout_s must be between 1 and " + std::to_string(options.timeout_max_s));
  info.awake_max_s = wanted.awake_max_s;
  if (info.idle_s < 0) throw Error(Code::bad_request, "idle_minutes must not be negative; 0 means never");
  check_environment(wanted.environment);
  info.environment = wanted.environment;
  info.labels = wanted.labels;
}

std::string folder_of(const SessionInfo& info, const NewSession& wanted, std::string_view scope) {
  if (wanted.folder) return clean_path(*wanted.folder);
  constexpr size_t kNameBytesMax = 100;
  std::string name;
  for (char c : info.name) name += c == '/' || static_cast<unsigned char>(c) < 32 ? '-' : c;
  std::string own = "sessions/" + name.substr(0, kNameBytesMax) + "-" + info.id.hex().substr(24);
  return clean_path(join_path(scope, own));
}

void check(const NewExecution& wanted, const InterpreterOptions& options) {
  constexpr size_t kCodeBytesMax = 8 << 20;
  constexpr size_t kKeyBytesMax = 255;
  if (wanted.language != "python" && wanted.language != "bash")
    throw Error(Code::bad_request, "language must be 'python' or 'bash'");
  if (!is_utf8(wanted.code)) throw Error(Code::bad_request, "the code is not UTF-8");
  if (wanted.code.size() > kCodeBytesMax)
    throw Error(Code::too_large, "the code has more than 8 MiB").advise(Advice::put_data_into_files);
  if (wanted.timeout_s && (*wanted.timeout_s < 1 || *wanted.timeout_s > options.timeout_max_s))
    throw Error(Code::bad_request,
                "timeout_s must be between 1 and " + std::to_string(options.timeout_max_s));
  const auto& key = wanted.idempotency_key;
  auto is_control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; };
  if (key.size() > kKeyBytesMax || !is_utf8(key) || std::any_of(key.begin(), key.end(), is_control))
    throw Error(Code::bad_request, "the idempotency key must be printable text of at most 255 bytes");
}

}  // namespace sk::interpreter
