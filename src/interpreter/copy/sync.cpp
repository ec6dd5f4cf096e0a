#include "interpreter/copy/sync.h"

#include <fcntl.h>

#include <algorithm>

#include "base/error.h"
#include "base/log.h"
#include "base/path.h"
#include "base/text.h"
#include "interpreter/copy/contents.h"
#include "sandbox/disk_guard.h"

namespace sk::interpreter {

using workspace::Entry;
using workspace::EntryKind;

namespace {
constexpr size_t kEventsMax = 2'000;
constexpr size_t kToldMax = 10;  // per call
constexpr uint64_t kRoomCheckBytes = 4 << 20;
constexpr uint64_t kUnmeasuredShare =
    16;  // a call may bring this part of the limit without measuring the copy
}  // namespace

// Error(disk_full) before bytes are written for which there is no room: in the session's own limit, or on the
// disk above the reserve. The copy is measured only by a call that brings much.
void Sync::need_room(uint64_t bytes) {
  if (brought_bytes_ == 0 || brought_bytes_ - room_checked_at_bytes_ >= kRoomCheckBytes) {
    workspace::check_room(keep_.context(), room_.reserve_bytes);
    room_checked_at_bytes_ = brought_bytes_;
  }
  if (!room_bytes_ && brought_bytes_ + bytes > room_.bytes_max / kUnmeasuredShare) {
    uint64_t used = sandbox::measure_folder(open_file(copy_.directory(), O_RDONLY | O_DIRECTORY).get()).bytes;
    room_bytes_ = room_.bytes_max - std::min(used, room_.bytes_max) + brought_bytes_;
  }
  if (room_bytes_ && brought_bytes_ + bytes > *room_bytes_)
    throw Error(Code::disk_full, "the files here would take more disk space than the " +
                                     human_size(room_.bytes_max) + " that a session may use");
  brought_bytes_ += bytes;
}

void Sync::materialise(const Entry& entry, const std::string& path, WorkingCopy::Attributes place) {
  workspace::ContentReader reader(keep_.context(), entry.sha256, 0, entry.size);
  auto fill = [&](int fd) {
    std::vector<std::byte> buffer(1 << 20);
    HoleWriter file(fd, [this](uint64_t bytes) { need_room(bytes); });
    while (auto piece = reader.next()) {
      if (!piece->file) {
        file.write(as_bytes(piece->bytes));
        continue;
      }
      for (uint64_t done = 0; done < piece->size;) {
        size_t want = std::min<uint64_t>(buffer.size(), piece->size - done);
        size_t got =
            read_at(piece->file->get(), std::span(buffer).first(want), piece->offset + done, "a blob");
        if (got == 0) throw Error(Code::corrupt, "a stored blob is shorter than recorded");
        file.write(Bytes(buffer).first(got));
        done += got;
      }
    }
    file.finish();
  };
  place.mode = entry.mode;
  place.mtime_us = entry.mtime_us;
  Node node = copy_.write_file(path, fill, place);
  manifest_.set_file(path, node, {entry.id, entry.head, entry.sha256, true}, keep_.context().clock.now_us());
}

bool Sync::is_unchanged(const std::string& path, const Node& local) const {
  const ManifestRow* row = manifest_.find(path);
  if (row == nullptr || row->kind != local.kind) return false;
  if (local.kind == NodeKind::folder || row->matches(local)) return true;
  // The file was touched, or written within one clock tick of its last look: its content decides.
  return row->size == local.size && row->sha256 && hash_contents(copy_, path) == row->sha256;
}

// Makes room where the workspace now has a folder and the copy a file, or the reverse. Removes kept entries.
// Error(conflict) when the session's own changes are in the way; they stay.
void Sync::make_way(const std::string& path, NodeKind wanted) {
  auto slash = path.rfind('/');
  if (slash != std::string::npos) make_way(path.substr(0, slash), NodeKind::folder);
  auto local = copy_.look(path);
  if (!local || local->kind == wanted) return;
  if (local->kind == NodeKind::folder) {
    auto below = manifest_.below(path);
    for (auto at = below.rbegin(); at != below.rend(); ++at) remove_if_unchanged(*at);
  } else if (local->kind == NodeKind::file && is_unchanged(path, *local) && !is_being_written(*local) &&
             copy_.remove_file(path, local)) {
    manifest_.erase(path);
  }
  if (copy_.look(path))
    throw Error(Code::conflict, "the session has something else at " + quoted_path(paths_.named(path)));
}

// Creates the folders above an entry, as the workspace has them, even where code had removed them. Each has a
// row, so that a capture sees when code moves or removes it.
void Sync::need_folder_above(const workspace::Authority& authority, const std::string& path) {
  auto slash = path.rfind('/');
  if (slash == std::string::npos) return;
  std::string folder = path.substr(0, slash);
  if (copy_.look(folder)) return;
  need_folder_above(authority, folder);
  auto entry = keep_.files().find(authority, paths_.workspace_path(folder));
  if (!entry || entry->kind != EntryKind::folder) return;
  manifest_.set_folder(folder, copy_.make_folder(folder, entry->mode), entry->id,
                       keep_.context().clock.now_us());
}

// Creates the folders above a path that code removed and that stayed in the workspace because of others'
// files. A folder that still has a row was removed after the last capture; the next one decides about it.
void Sync::bring_folders_above(const workspace::Authority& authority, const std::string& path) {
  for (size_t slash = path.find('/'); slash != std::string::npos; slash = path.find('/', slash + 1)) {
    std::string above = path.substr(0, slash);
    if (auto there = copy_.look(above)) {
      if (there->kind != NodeKind::folder) return;  // code put something else there
      continue;
    }
    if (manifest_.find(above) != nullptr) return;
    auto entry = keep_.files().find(authority, paths_.workspace_path(above));
    if (!entry || entry->kind != EntryKind::folder) return;
    manifest_.set_folder(above, copy_.make_folder(above, entry->mode), entry->id,
                         keep_.context().clock.now_us());
  }
}

// Whether code wrote a new file that equals the one that another client put there.
bool Sync::is_written_alike(const Entry& entry, const std::string& path, const std::optional<Node>& local) {
  if (!local || local->kind != NodeKind::file || manifest_.find(path) != nullptr) return false;
  return local->size == entry.size && (local->mode & 0777) == (entry.mode & 0777) &&
         !is_being_written(*local) && hash_contents(copy_, path) == entry.sha256;
}

// Whether the copy had something of what is in that folder of the workspace now. So it had this folder, also
// when somebody else made it anew before a capture put its files into it.
bool Sync::has_members_of(const workspace::Authority& authority, const std::string& folder) {
  for (const auto& path : manifest_.members(folder)) {
    auto entry = keep_.files().find(authority, paths_.workspace_path(path));
    if (entry && entry->id == manifest_.find(path)->file) return true;
  }
  return false;
}

void Sync::bring_entry(const workspace::Authority& authority, const Entry& entry) {
  std::string path = paths_.disk_path(entry.path);
  if (path.empty()) return;  // the copy itself
  const ManifestRow* row = manifest_.find(path);
  auto local = copy_.look(path);
  if (entry.kind == EntryKind::folder) {
    if (local && local->kind == NodeKind::folder) {
      if (row == nullptr)
        manifest_.set_folder(path, *local, entry.id, keep_.context().clock.now_us());
      else
        bring_mode(entry, path, *local);
      return;
    }
    if (row != nullptr && !local && (row->file == entry.id || has_members_of(authority, path)))
      return bring_mode_later(entry, *row);  // the session deleted it, and no capture has seen that yet
    make_way(path, NodeKind::folder);
    need_folder_above(authority, path);
    manifest_.set_folder(path, copy_.make_folder(path, entry.mode), entry.id, keep_.context().clock.now_us());
    return;
  }
  if (row != nullptr && row->version == entry.head && local) return bring_mode(entry, path, *local);
  if (is_written_alike(entry, path, local)) {
    manifest_.set_file(path, *local, {entry.id, entry.head, entry.sha256, true},
                       keep_.context().clock.now_us());
    return;
  }
  // A local change stays. When it is captured, it carries its base, and the file says that it diverged. If
  // code moves it away instead, the other client's file is brought.
  if (local && local->kind == NodeKind::file && !is_unchanged(path, *local)) return bring_later(entry.path);
  if (local && local->kind == NodeKind::file && row->sha256 && row->sha256 == entry.sha256) {
    // The bytes are there already. The file is not replaced, so that code that has it open does not write to
    // an orphan.
    ManifestRow now = *row;
    now.file = entry.id;
    now.version = entry.head;
    manifest_.set(path, now);
    return bring_mode(entry, path, *local);
  }
  if (row != nullptr && row->version == entry.head && !local)
    return bring_mode_later(entry, *row);  // the session deleted it, and no capture has seen that yet
  make_way(path, NodeKind::file);
  auto replaced = local && local->kind == NodeKind::file ? local : std::nullopt;
  if (replaced && is_being_written(*replaced))
    throw Error(Code::conflict, "the session has it open for writing");
  need_folder_above(authority, path);
  materialise(entry, path, {.replace = false, .expected = replaced});
}

// Applies a mode that another client set, unless code has set another one. That of a file with several names
// waits until the file has only one.
void Sync::bring_mode(const Entry& entry, const std::string& path, const Node& local) {
  ManifestRow row = *manifest_.find(path);
  uint32_t wanted = (entry.mode & 0777) | (local.mode & 07000);
  if (local.kind != row.kind || local.mode != row.mode || local.mode == wanted) return;
  // All names of a file have one mode in the copy. Under another name it would count as code's change, and a
  // capture would replace the mode that a client gave to that name.
  if (local.kind == NodeKind::file && local.links > 1) return bring_later(entry.path);
  bool same = row.has_marks_of(local);
  auto changed = copy_.set_mode(path, wanted);
  if (!changed) return;
  row.mode = changed->mode;
  if (same) row.ctime_ns = changed->ctime_ns, row.seen_us = 0;  // its content decides at the next capture
  manifest_.set(path, row);
}

// Another client set a mode of what code has deleted. Code may make it anew before the next capture.
void Sync::bring_mode_later(const Entry& entry, const ManifestRow& row) {
  if ((entry.mode & 0777) != (row.mode & 0777)) bring_later(entry.path);
}

bool Sync::is_being_written(const Node& local) {
  if (!open_files_) open_files_ = ask_ ? ask_() : OpenFiles{};
  return open_files_->contains({local.device, local.inode});
}

// Brings one entry. A failure must not keep the session from running.
void Sync::bring_or_skip(const workspace::Authority& authority, const Entry& entry) {
  try {
    bring_entry(authority, entry);
  } catch (const Error& error) {
    skipped_.insert(entry.path);
    if (told_.insert(entry.path).second && untold_.size() < kToldMax)
      untold_.push_back(quoted_path(entry.path) +
                        " of the workspace could not be brought here: " + error.sentence());
  }
}

void Sync::follow_rename(const std::string& from, const std::string& to) {
  std::vector<std::string> moved;
  for (auto at = skipped_.lower_bound(from); at != skipped_.end() && at->starts_with(from); ++at)
    if (is_within(*at, from)) moved.push_back(to + at->substr(from.size()));
  skipped_.insert(moved.begin(), moved.end());
}

std::vector<Sentence> Sync::take_untold() { return std::exchange(untold_, {}); }

void Sync::remove_if_unchanged(const std::string& path) {
  const ManifestRow* row = manifest_.find(path);
  if (row == nullptr) return;
  int error = 0;
  auto local = copy_.look(path, &error);
  if (error != 0) return;
  if (local && !is_unchanged(path, *local)) return;
  // Code wrote the same bytes again. Without its row, the file is kept as a new one.
  if (local && local->kind == NodeKind::file && row->is_written_since(*local)) return manifest_.erase(path);
  // So is a folder that code removed and created again. Rows without a birth time cannot tell.
  if (local && local->kind == NodeKind::folder && row->birth_ns != 0 && !row->is_inode_of(*local))
    return manifest_.erase(path);
  if (local && is_being_written(*local)) return bring_later(paths_.workspace_path(path));
  bool removed = !local || (local->kind == NodeKind::folder ? copy_.remove_folder(path)
                                                            : copy_.remove_file(path, local));
  if (removed)
    manifest_.erase(path);
  else
    bring_later(paths_.workspace_path(path));  // a folder that still contains something of the session's own
}

// Brings the entry at a path of the workspace, and everything below it, into the copy.
void Sync::bring(const workspace::Authority& authority, const std::string& workspace_path) {
  std::string path = paths_.disk_path(workspace_path);
  auto entry = keep_.files().find(authority, workspace_path);
  if (!entry || entry->path != workspace_path) {
    auto below = manifest_.below(path);
    for (auto at = below.rbegin(); at != below.rend(); ++at) remove_if_unchanged(*at);
    bring_folders_above(authority, path);
    return;
  }
  bring_or_skip(authority, *entry);
  if (entry->kind != EntryKind::folder) return;
  workspace::ListOptions options;
  options.folder = workspace_path;
  options.recursive = true;
  std::set<std::string> there;
  uint64_t there_bytes = 0;
  do {
    auto page = keep_.files().list(authority, options);
    for (const auto& item : page.items) {
      there_bytes += Manifest::bytes_of(*there.insert(paths_.disk_path(item.path)).first);
      bring_or_skip(authority, item);
    }
    manifest_.need_memory(there_bytes);
    options.cursor = page.next_cursor;
  } while (!options.cursor.empty());
  auto below = manifest_.below(path);
  for (auto at = below.rbegin(); at != below.rend(); ++at)
    if (*at != path && !there.contains(*at)) remove_if_unchanged(*at);
  manifest_.release_memory();
}

int64_t Sync::bring_all(const workspace::Authority& authority) {
  int64_t position = keep_.journal().head_seq(authority);
  skipped_.clear();
  begin_bringing();
  bring(authority, folder_);
  return position;
}

// Whether an event reports the session's own write, which the copy already has.
bool Sync::is_known(const workspace::JournalEntry& event, const std::string& workspace_path) const {
  if (event.kind != "file.create" && event.kind != "file.write") return false;
  auto version = event.facts.find("version_id");
  if (version == event.facts.end() || !version->is_string()) return false;
  const ManifestRow* row = manifest_.find(paths_.disk_path(workspace_path));
  return row != nullptr && row->version &&
         row->version.with_prefix(workspace::prefix::version) == version->get_ref<const std::string&>();
}

int64_t Sync::bring_changes(const workspace::Authority& authority, int64_t after) {
  workspace::EventFilter filter;
  filter.path_prefix = folder_;
  filter.and_above = true;
  auto events = keep_.journal().events(authority, after, kEventsMax, filter);
  if (events.has_more) return bring_all(authority);
  std::set<std::string> paths;
  for (const auto& event : events.items) {
    if (event.personal.is_null() || event.kind == "folder.restore_as_of") return bring_all(authority);
    for (const char* name : {"path", "from", "to"}) {
      auto found = event.personal.find(name);
      if (found == event.personal.end() || !found->is_string()) continue;
      std::string path = found->get<std::string>();
      // A folder above the session's folder was moved, trashed or restored, so all of it may differ now.
      bool moves = event.kind.starts_with("folder.") && event.kind != "folder.create";
      if (moves && path != folder_ && is_within(folder_, path)) return bring_all(authority);
      if (is_within(path, folder_) && !is_known(event, path)) paths.insert(path);
    }
  }
  for (const auto& path : std::exchange(skipped_, {})) paths.insert(path);
  begin_bringing();
  for (const auto& path : paths) bring(authority, path);
  return events.cursor;
}

}  // namespace sk::interpreter
