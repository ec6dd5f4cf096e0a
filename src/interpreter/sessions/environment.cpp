#include "interpreter/sessions/environment.h"

#include "base/error.h"

namespace sk::interpreter {

namespace {

constexpr size_t kEnvironmentMax = 200;
constexpr size_t kVariableBytesMax = 64 << 10;

}  // namespace

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

}  // namespace sk::interpreter
