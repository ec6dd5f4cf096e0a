#include "interpreter/new_session.h"

#include "base/error.h"
#include "base/text.h"
#include "interpreter/environment.h"
#include "workspace/path.h"

namespace sk::interpreter {

void settle_wishes(SessionInfo& info, const NewSession& wanted, const InterpreterOptions& options) {
  info.name = wanted.name.empty() ? "session" : wanted.name;
  if (info.name.size() > 100 || !is_utf8(info.name))
    throw Error(Code::bad_request, "name must be at most 100 bytes of text");
  info.memory_bytes = wanted.memory_bytes.value_or(options.memory_default_bytes);
  if (info.memory_bytes > options.memory_max_bytes)
    throw Error(Code::bad_request,
                "memory may be at most " + human_size(options.memory_max_bytes) + " on this server")
        .hint("Ask for less, or ask the operator.");
  if (info.memory_bytes < (64ull << 20)) throw Error(Code::bad_request, "memory must be at least 64 MiB");
  info.timeout_s = wanted.timeout_s.value_or(options.timeout_default_s);
  info.idle_s = wanted.idle_s.value_or(options.idle_default_s);
  if (info.timeout_s < 1 || info.timeout_s > options.timeout_max_s)
    throw Error(Code::bad_request,
                "timeout_s must lie between 1 and " + std::to_string(options.timeout_max_s));
  info.awake_max_s = wanted.awake_max_s;
  if (info.idle_s < 0) throw Error(Code::bad_request, "idle_minutes must not be negative; 0 means never");
  check_environment(wanted.environment);
  info.environment = wanted.environment;
  info.labels = wanted.labels;
}

std::string folder_of(const SessionInfo& info, const NewSession& wanted) {
  if (wanted.folder) return workspace::clean_path(*wanted.folder);
  constexpr size_t kNameBytesMax = 100;
  std::string name;
  for (char c : info.name) name += c == '/' || static_cast<unsigned char>(c) < 32 ? '-' : c;
  return workspace::clean_path("sessions/" + name.substr(0, kNameBytesMax) + "-" + info.id.hex().substr(24));
}

}  // namespace sk::interpreter
