#include "server/first_key.h"

#include <filesystem>

#include "base/error.h"
#include "base/fd.h"
#include "base/hash.h"
#include "base/text.h"

namespace sk::server {

namespace fs = std::filesystem;

bool is_fresh(const std::string& data_folder) {
  std::error_code failed;
  for (fs::directory_iterator at(data_folder, failed); !failed && at != fs::directory_iterator();
       at.increment(failed))
    if (at->path().filename() != "sandkeep.toml") return false;
  return true;
}

FirstKey ensure_first_key(workspace::Keep& keep, const Settings& settings, bool fresh) {
  auto& access = keep.access();
  if (!settings.root_key.empty()) {
    access.ensure_first_principal(settings.root_key);
    return {};
  }
  auto file = keep.directory() + "/root.key";
  std::error_code ignored;
  if (fs::exists(file, ignored)) {
    // Known to the catalog already, unless the server died between the two.
    auto kept = std::string(trim(read_file(file, 4096)));
    if (kept.empty())
      throw Error(Code::corrupt, file + " is empty")
          .hint("Remove it, and set SANDKEEP_ROOT_KEY once to add a key of your own.");
    access.ensure_first_principal(kept);
    return {std::nullopt, file};
  }
  if (fresh) {
    auto secret = "skey_" + random_base64url(32);
    write_file_durably(file, secret + "\n", 0600);
    access.ensure_first_principal(secret);
    return {secret, file};
  }
  // Somebody removed the file, and there is a key already; or a first start died before it came to the key.
  auto made = access.ensure_first_principal("");
  if (!made) return {};
  write_file_durably(file, *made + "\n", 0600);
  return {made, file};
}

}  // namespace sk::server
