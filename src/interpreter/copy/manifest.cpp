#include "interpreter/copy/manifest.h"

#include "base/error.h"
#include "base/text.h"
#include "catalog/columns.h"

namespace sk::interpreter {

namespace {

// File times advance with the kernel's tick; 20 ms exceeds any tick (HZ ≥ 100 gives 10 ms).
constexpr int64_t kTickNs = 20'000'000;

bool below_or_same(const std::string& path, const std::string& folder) {
  return folder.empty() || path == folder ||
         (path.size() > folder.size() && path.starts_with(folder) && path[folder.size()] == '/');
}

#define SK_MANIFEST_LIST(FIRST, NEXT) \
  FIRST(path, "path")                 \
  NEXT(kind, "kind")                  \
  NEXT(file, "file")                  \
  NEXT(version, "version")            \
  NEXT(device, "device")              \
  NEXT(inode, "inode")                \
  NEXT(size, "size")                  \
  NEXT(mtime_ns, "mtime_ns")          \
  NEXT(ctime_ns, "ctime_ns")          \
  NEXT(mode, "mode")                  \
  NEXT(seen_us, "seen_us")            \
  NEXT(birth_ns, "birth_ns")          \
  NEXT(generation, "generation")      \
  NEXT(sha256, "sha256")              \
  NEXT(complete, "complete")
SK_COLUMN_NAMES(ManifestColumn, SK_MANIFEST_LIST);

}  // namespace

bool ManifestRow::has_marks_of(const Node& node) const {
  if (kind != node.kind || device != node.device || inode != node.inode) return false;
  if (birth_ns != 0 && node.birth_ns != 0 && birth_ns != node.birth_ns) return false;
  if (kind == NodeKind::folder) return mode == node.mode;
  return size == node.size && mtime_ns == node.mtime_ns && ctime_ns == node.ctime_ns && mode == node.mode;
}

bool ManifestRow::matches(const Node& node) const {
  return has_marks_of(node) && (kind == NodeKind::folder || seen_us * 1000 > ctime_ns + kTickNs);
}

bool ManifestRow::is_inode_of(const Node& node) const {
  if (kind != node.kind || device != node.device || inode != node.inode) return false;
  if (birth_ns == 0 || birth_ns != node.birth_ns) return false;
  return generation == 0 || node.generation == 0 || generation == node.generation;
}

bool ManifestRow::is_written_since(const Node& node) const {
  if (birth_ns == 0) return false;
  // A write sets both times to the present. A time that code sets is usually older, or lies in the future.
  bool written = node.mtime_ns > ctime_ns && node.mtime_ns <= node.ctime_ns;
  return written || !is_inode_of(node);
}

void Manifest::load() {
  rows_.clear();
  by_inode_.clear();
  bytes_ = 0;
  saved();
  context_.db.read([&](catalog::Statements& statements) {
    statements.query("SELECT " SK_COLUMN_TEXT(SK_MANIFEST_LIST) " FROM manifests WHERE session = $1",
                     {session_.id}, [&](const catalog::Row& row) {
                       ManifestRow one;
                       one.kind = row.integer(ManifestColumn::kind) == 1 ? NodeKind::folder : NodeKind::file;
                       one.file = row.id(ManifestColumn::file);
                       one.version = row.id(ManifestColumn::version);
                       one.device = static_cast<uint64_t>(row.integer(ManifestColumn::device));
                       one.inode = static_cast<uint64_t>(row.integer(ManifestColumn::inode));
                       one.size = static_cast<uint64_t>(row.integer(ManifestColumn::size));
                       one.mtime_ns = row.integer(ManifestColumn::mtime_ns);
                       one.ctime_ns = row.integer(ManifestColumn::ctime_ns);
                       one.mode = static_cast<uint32_t>(row.integer(ManifestColumn::mode));
                       one.seen_us = row.integer(ManifestColumn::seen_us);
                       one.birth_ns = row.integer(ManifestColumn::birth_ns);
                       one.generation = static_cast<uint64_t>(row.integer(ManifestColumn::generation));
                       if (!row.is_null(ManifestColumn::sha256))
                         one.sha256 = row.hash(ManifestColumn::sha256);
                       one.complete = row.integer(ManifestColumn::complete) != 0;
                       auto at = rows_.emplace(row.str(ManifestColumn::path), one).first;
                       by_inode_.emplace(one.inode, &at->first);
                       bytes_ += bytes_of(at->first);
                       return true;
                     });
  });
  release_memory();
}

void Manifest::need_memory(uint64_t besides_bytes) {
  if (has_memory(besides_bytes)) return;
  throw Error(Code::too_large,
              "the names of the files in your running sessions need more memory than the server has for them "
              "(copy_memory_bytes); this session's need " +
                  human_size(bytes_ + besides_bytes))
      .advise(Advice::use_fewer_files);
}

void Manifest::save() {
  if (changed_.empty()) return;
  context_.db.write(session_.scope(), [&](catalog::Tx& tx) {
    check_owner(tx, session_);
    save(tx);
  });
  saved();
}

void Manifest::save(catalog::Tx& tx) const {
  for (const auto& path : changed_) {
    auto found = rows_.find(path);
    if (found == rows_.end()) {
      tx.exec("DELETE FROM manifests WHERE session = $1 AND path = $2",
              {session_.id, catalog::Param::raw(path)});
      continue;
    }
    const ManifestRow& row = found->second;
    tx.exec(
        "INSERT INTO manifests (session, path, kind, file, version, device, inode, size, mtime_ns, "
        "ctime_ns, mode, seen_us, birth_ns, generation, sha256, complete) "
        "VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16) "
        "ON CONFLICT (session, path) DO UPDATE "
        "SET kind = excluded.kind, "
        "file = excluded.file, version = excluded.version, device = excluded.device, inode = "
        "excluded.inode, size = excluded.size, "
        "mtime_ns = excluded.mtime_ns, ctime_ns = excluded.ctime_ns, mode = excluded.mode, seen_us = "
        "excluded.seen_us, birth_ns = excluded.birth_ns, generation = excluded.generation, sha256 = "
        "excluded.sha256, complete = excluded.complete",
        {session_.id, catalog::Param::raw(path), row.kind == NodeKind::folder ? 1 : 0, row.file,
         row.version ? catalog::Param(row.version) : catalog::Param(nullptr), row.device, row.inode, row.size,
         row.mtime_ns, row.ctime_ns, row.mode, row.seen_us, row.birth_ns, row.generation,
         row.sha256 ? catalog::Param(row.sha256) : catalog::Param(nullptr), row.complete ? 1 : 0});
  }
}

void Manifest::saved() {
  changed_.clear();
  before_.clear();
  changed_before_.clear();
  remembers_ = false;
}

void Manifest::remember() {
  before_.clear();
  changed_before_ = changed_;
  remembers_ = true;
}

void Manifest::go_back() {
  auto rows = std::exchange(before_, {});
  remembers_ = false;
  for (const auto& [path, row] : rows) row ? set(path, *row) : erase(path);
  changed_ = changed_before_;
  remembers_ = true;
}

void Manifest::note_before(const std::string& path) {
  if (!remembers_ || before_.contains(path)) return;
  const ManifestRow* row = find(path);
  before_.emplace(path, row == nullptr ? std::nullopt : std::optional(*row));
}

void Manifest::clear() {
  while (!rows_.empty()) erase(rows_.begin()->first);
  save();
}

const ManifestRow* Manifest::find(const std::string& path) const {
  auto found = rows_.find(path);
  return found == rows_.end() ? nullptr : &found->second;
}

const ManifestRow* Manifest::find_remembered(const std::string& path) const {
  auto before = before_.find(path);
  if (before == before_.end()) return find(path);
  return before->second ? &*before->second : nullptr;
}

void Manifest::set(const std::string& path, const ManifestRow& row) {
  SK_CHECK(!path.empty(), "the copy's own directory has no row");
  note_before(path);
  erase(path);
  auto at = rows_.emplace(path, row).first;
  by_inode_.emplace(row.inode, &at->first);
  bytes_ += bytes_of(path);
  changed_.insert(path);
}

namespace {

ManifestRow row_of(const Node& node, const Id& file, TimeUs now_us) {
  ManifestRow row;
  row.kind = node.kind;
  row.file = file;
  row.device = node.device;
  row.inode = node.inode;
  row.birth_ns = node.birth_ns;
  row.generation = node.generation;
  row.size = node.size;
  row.mtime_ns = node.mtime_ns;
  row.ctime_ns = node.ctime_ns;
  row.mode = node.mode;
  row.seen_us = now_us;
  return row;
}

}  // namespace

void Manifest::set_folder(const std::string& path, const Node& node, const Id& file, TimeUs now_us) {
  set(path, row_of(node, file, now_us));
}

void Manifest::set_file(const std::string& path, const Node& node, const Kept& kept, TimeUs now_us) {
  ManifestRow row = row_of(node, kept.file, now_us);
  row.version = kept.version;
  row.sha256 = kept.sha256;
  row.complete = kept.complete;
  // The marks of a file that was being written prove nothing: it is read again when it is next touched.
  if (!kept.complete) row.seen_us = 0;
  set(path, row);
}

void Manifest::erase(const std::string& path_by_reference) {
  std::string path = path_by_reference;  // the reference may point into the row that is erased
  auto found = rows_.find(path);
  if (found == rows_.end()) return;
  note_before(path);
  auto [first, last] = by_inode_.equal_range(found->second.inode);
  for (auto at = first; at != last; ++at)
    if (at->second == &found->first) {
      by_inode_.erase(at);
      break;
    }
  rows_.erase(found);
  bytes_ -= bytes_of(path);
  changed_.insert(path);
}

void Manifest::rename(const std::string& from, const std::string& to) {
  for (const auto& path : below(from)) {
    ManifestRow row = rows_.at(path);
    erase(path);
    set(to + path.substr(from.size()), row);
  }
}

std::vector<std::string> Manifest::below(const std::string& folder) const {
  std::vector<std::string> result;
  for (auto at = rows_.lower_bound(folder); at != rows_.end() && at->first.starts_with(folder); ++at)
    if (below_or_same(at->first, folder)) result.push_back(at->first);
  return result;
}

size_t Manifest::count_below(const std::string& folder, size_t enough) const {
  size_t count = 0;
  for (auto at = rows_.lower_bound(folder);
       at != rows_.end() && at->first.starts_with(folder) && count <= enough; ++at)
    if (below_or_same(at->first, folder)) count += 1 + at->first.size() / 256;
  return count;
}

std::vector<std::string> Manifest::members(const std::string& folder) const {
  std::vector<std::string> result;
  std::string prefix = folder.empty() ? "" : folder + "/";
  for (auto at = rows_.lower_bound(prefix); at != rows_.end() && at->first.starts_with(prefix);) {
    auto slash = at->first.find('/', prefix.size());
    if (slash == std::string::npos) {
      result.push_back(at->first);
      ++at;
    } else {
      at = rows_.lower_bound(at->first.substr(0, slash) + static_cast<char>('/' + 1));  // skip that subfolder
    }
  }
  return result;
}

std::vector<std::string> Manifest::find_inodes(uint64_t device, uint64_t inode) const {
  std::vector<std::string> result;
  auto [first, last] = by_inode_.equal_range(inode);
  for (auto at = first; at != last; ++at)
    if (rows_.at(*at->second).device == device) result.push_back(*at->second);
  return result;
}

}  // namespace sk::interpreter
