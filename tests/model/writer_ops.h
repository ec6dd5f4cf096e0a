// What one writing process does.
#pragma once

#include <array>
#include <set>
#include <string>
#include <utility>

#include "model/step.h"

namespace sk::model {

class WriterOps {
 public:
  static bool does(const std::string& what);
  ~WriterOps() { release_all(); }
  void enter(const std::string& directory);
  // What the system refuses is left undone, as code would leave it.
  void run(const Step& step);
  void release_all();
  std::set<std::pair<uint64_t, uint64_t>> open_files() const;

 private:
  struct Slot {
    int fd = -1;
    char* mapped = nullptr;
    size_t size = 0;
    std::pair<uint64_t, uint64_t> inode;
  };
  void release(Slot& slot);
  Slot& slot_of(const Step& step);

  std::array<Slot, 3> slots_;
};

}  // namespace sk::model
