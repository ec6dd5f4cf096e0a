#include "server/first_key.h"

#include <filesystem>

#include "base/error.h"
#include "base/fd.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/redaction.h"
#include "base/text.h"

namespace sk::server {

namespace fs = std::filesystem;

FirstKey ensure_first_key(workspace::Keep& keep, const Settings& settings) {
  auto& access = keep.access();
  if (!settings.root_key.empty()) {
    log::hide(settings.root_key);
    access.ensure_first_principal(settings.root_key);
    return {};
  }
  auto file = keep.directory() + "/root.key";
  std::error_code ignored;
  if (fs::exists(file, ignored)) {
    // The catalog already has the key, unless the server was killed between the two writes.
    auto kept = std::string(trim(read_file(file, 4096)));
    if (kept.empty())
      throw Error(Code::corrupt, file + " is empty")
          .hint("Remove it, and set SANDKEEP_ROOT_KEY once to add a key of your own.");
    log::hide(kept);
    access.ensure_first_principal(kept);
    return {std::nullopt, file};
  }
  // The operator deleted the file, but a key exists.
  if (access.has_administrator()) return {};
  auto secret = std::string(kKeySecretPrefix) + random_base64url(32);
  write_file_durably(file, secret + "\n", 0600);
  access.ensure_first_principal(secret);
  return {secret, file};
}

}  // namespace sk::server
