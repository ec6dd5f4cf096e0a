#include "interpreter/options.h"

#include <algorithm>
#include <filesystem>

namespace sk::interpreter {

uint64_t InterpreterOptions::reserve_of_disk() const {
  constexpr uint64_t kShare = 10;
  std::error_code error;
  auto disk = std::filesystem::space(directory, error);
  uint64_t wanted = session_disk_reserve_bytes;
  if (!error) wanted = std::min<uint64_t>(wanted, disk.capacity / kShare);
  return std::max(wanted, disk_reserve_bytes);
}

}  // namespace sk::interpreter
