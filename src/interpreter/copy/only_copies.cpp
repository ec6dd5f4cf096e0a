#include "interpreter/copy/only_copies.h"

namespace sk::interpreter {

Error only_copies_error(const std::vector<NotKept>& items) {
  constexpr size_t kNamed = 3, kListed = 100;
  std::string named, listed;
  for (size_t i = 0; i < items.size() && i < kListed; ++i) {
    if (i < kNamed)
      named.append(i == 0 ? "" : ", ")
          .append(items[i].path)
          .append(" (")
          .append(name_of(items[i].reason))
          .append(")");
    listed.append(i == 0 ? "" : "\n").append(items[i].path);
  }
  if (items.size() > kNamed) named.append(" and " + std::to_string(items.size() - kNamed) + " more");
  return Error(Code::conflict, "not deleted, because files that could not be kept would be lost: " + named)
      .advise(Advice::keep_files_first)
      .with("not_kept", listed)
      .with("not_kept_count", static_cast<int64_t>(items.size()));
}

}  // namespace sk::interpreter
