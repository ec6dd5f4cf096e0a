// A local store in a folder of its own, for the conformance suite and for what only local stores do.
#pragma once

#include <fcntl.h>

#include <filesystem>
#include <memory>
#include <string>

#include "base/fd.h"
#include "blobs/local_store.h"
#include "unit/blobs/support.h"

namespace sk::blobs::test {

inline size_t count_entries(const std::string& path) {
  namespace fs = std::filesystem;
  return static_cast<size_t>(std::distance(fs::directory_iterator(path), fs::directory_iterator()));
}

class LocalHarness {
 public:
  explicit LocalHarness(LocalStore::Hashing hashing = LocalStore::Hashing::best) : hashing_(hashing) {
    reopen();
  }
  Store& store() { return *store_; }
  void reopen() {
    store_.reset();
    store_ = std::make_unique<LocalStore>(directory(), hashing_);
  }
  void damage(const std::string& location) {
    Fd fd = open_file(directory() + "/" + location, O_RDWR);
    std::byte byte;
    SK_CHECK(read_at(fd.get(), {&byte, 1}, 100, location) == 1);
    byte ^= std::byte{1};
    write_all_at(fd.get(), {&byte, 1}, 100, location);
  }
  size_t unfinished() { return count_entries(directory() + "/new"); }
  std::string directory() const { return folder_.path() + "/data/blobs"; }

 private:
  const LocalStore::Hashing hashing_;
  TemporaryFolder folder_;
  std::unique_ptr<Store> store_;
};

}  // namespace sk::blobs::test
