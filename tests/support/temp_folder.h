// A folder of a test's own, removed with everything in it when the test ends.
#pragma once

#include <filesystem>
#include <string>

#include "base/hash.h"

namespace sk::test {

class TempFolder {
 public:
  TempFolder() : path_(std::filesystem::temp_directory_path() / ("sandkeep-test-" + random_base64url(9))) {
    std::filesystem::create_directory(path_);
  }
  ~TempFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;

  std::string path() const { return path_.string(); }
  std::string operator/(const std::string& name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

}  // namespace sk::test
