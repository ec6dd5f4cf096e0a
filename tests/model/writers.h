// The code of a session: several processes that work in the copy's directory at once, by plain system calls.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "model/channel.h"
#include "model/step.h"

namespace sk::model {

class Writers {
 public:
  explicit Writers(size_t count);
  ~Writers();

  // Whether writers carry out such a step.
  static bool does(const std::string& what);
  // Whether such a step may remove a name.
  static bool may_remove(const std::string& what);
  void enter(const std::string& directory);
  void start(const Step& step);
  void wait();  // until all are quiet
  void release_all();
  void kill(int writer);  // and starts another in its place
  void kill_all();        // the same; those that follow are in no copy yet
  // What they hold open for writing or have mapped: device, inode. Only while they are quiet.
  std::set<std::pair<uint64_t, uint64_t>> open_files() const;

 private:
  struct Writer {
    pid_t pid = 0;
    Channel channel;
    size_t pending = 0;
    std::set<std::pair<uint64_t, uint64_t>> open;
  };
  void spawn(Writer& writer);
  void drain(Writer& writer);

  std::vector<Writer> writers_;
  std::string directory_;
};

}  // namespace sk::model
