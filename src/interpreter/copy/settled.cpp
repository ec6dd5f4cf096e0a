// Merges the results of several captures, and truncates their lists to the size of an answer.
#include <algorithm>
#include <iterator>
#include <unordered_set>

#include "interpreter/copy/capture.h"

namespace sk::interpreter {

namespace {

constexpr size_t kToldNamesMax = 1'000;
constexpr size_t kNameBytesMax = 256 << 10;  // of one list

size_t bytes_of(const std::string& path) { return path.size(); }
size_t bytes_of(const std::pair<std::string, std::string>& paths) {
  return paths.first.size() + paths.second.size();
}
size_t bytes_of(const NotKept& item) { return item.path.size() + item.message.text().size(); }
size_t bytes_of(const KeptFile& file) { return file.path.size(); }

// Returns how many of the first entries have together at most kNameBytesMax bytes.
template <class List>
size_t count_within(const List& list, size_t count_max) {
  size_t count = 0, bytes = 0;
  while (count < std::min(list.size(), count_max) && bytes + bytes_of(list[count]) <= kNameBytesMax)
    bytes += bytes_of(list[count++]);
  return count;
}

}  // namespace

void Settled::append(Settled&& other) {
  auto move_all = [](auto& to, auto& from) {
    to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
  };
  // The latest report about a path replaces earlier ones.
  std::unordered_set<std::string_view> told;
  for (const auto& file : other.kept) told.insert(file.path);
  for (const auto& item : other.not_kept) told.insert(item.path);
  if (!kept.empty()) std::erase_if(kept, [&](const KeptFile& old) { return told.contains(old.path); });
  if (!not_kept.empty()) std::erase_if(not_kept, [&](const NotKept& old) { return told.contains(old.path); });
  move_all(kept, other.kept);
  move_all(folders, other.folders);
  move_all(renamed, other.renamed);
  move_all(deleted, other.deleted);
  move_all(not_kept, other.not_kept);
  left_out += other.left_out;
}

void Settled::bound() {
  auto cut = [this](auto& list) {
    size_t count = count_within(list, kToldNamesMax);
    left_out += list.size() - count;
    list.erase(list.begin() + static_cast<std::ptrdiff_t>(count), list.end());
  };
  cut(folders);
  cut(renamed);
  cut(deleted);
  cut(not_kept);
}

size_t Settled::kept_to_show(size_t count_max) const { return count_within(kept, count_max); }

}  // namespace sk::interpreter
