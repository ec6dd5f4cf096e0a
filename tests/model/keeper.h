// The keeper as the driver sees it: a process that hosts a real keep and the keepers of copies, takes orders,
// and can be killed at any moment.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/json.h"
#include "model/channel.h"

namespace sk::model {

struct KeeperOptions {
  std::string directory;  // holds the data folder and the copies
  std::string boot_id;
  size_t watches_max = 0;  // that the system allows this process; 0: as it is
  size_t folders_max = 0;  // that are watched in one copy; 0: as by default
  // Whether the catalog runs every write twice and checks its scope (KeepOptions::strict_writes). It is slow,
  // and servers do not.
  bool strict_writes = false;
  bool operator==(const KeeperOptions&) const = default;
};

class Keeper {
 public:
  ~Keeper() { kill(); }

  void start(const KeeperOptions& options);
  bool is_alive() const { return pid_ != 0; }
  void kill();  // SIGKILL, and waits until it is gone
  void stop_running();
  void go_on();

  // The answer, or nullopt when the keeper died. A keeper that answers nothing for a minute is killed.
  std::optional<Json> order(const Json& order);
  void begin(const Json& order);
  std::optional<Json> finish();
  bool answers_within(int64_t timeout_us) const { return channel_.wait(timeout_us); }
  int status() const { return status_; }  // of the last process that died by itself

 private:
  pid_t pid_ = 0;
  int status_ = 0;
  Channel channel_;
};

// Runs in the child until the driver is gone.
[[noreturn]] void serve_keeper(const KeeperOptions& options, Channel channel);

std::string unhex(const std::string& text);
// Checks that everything in the manifest of the session is in its directory. Throws Broken.
void check_manifest(Keeper& keeper, const std::string& directory);
// Reads versions and compares them with their hashes. Throws Broken.
void check_versions(Keeper& keeper, const std::vector<std::pair<std::string, std::string>>& versions);

}  // namespace sk::model
