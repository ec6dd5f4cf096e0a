// An ext4 file system of a lane's own, on a loop device over a file in memory, whose power can be cut. Root
// only. It lives in a mount namespace of the lane, and its image has no name, so nothing is left behind by a
// lane that dies.
#pragma once

#include <memory>
#include <string>

namespace sk::model {

class Disk {
 public:
  // nullptr when the system does not allow it; `why` says what.
  static std::unique_ptr<Disk> make(uint64_t bytes, std::string* why);
  ~Disk();
  const std::string& path() const { return path_; }
  // What was not synced is gone, as after a power cut. No process may use it any more.
  void cut_power();
  void fill();  // takes all the room that is left
  void make_room();

 private:
  Disk() = default;
  void mount();

  std::string path_, device_;
  int loop_ = -1;
};

}  // namespace sk::model
