#include "interpreter/copy/copy_keeper.h"

#include <filesystem>

#include "base/error.h"
#include "base/hash.h"
#include "base/log.h"

namespace sk::interpreter {

namespace {

Touched everything() {
  Touched all;
  all.everything = true;
  return all;
}

}  // namespace

std::string boot_or_process(const std::string& boot_id) {
  return boot_id.empty() ? "process-" + random_base64url(12) : boot_id;
}

CaptureAs capture_as(const SessionInfo& session, workspace::Author author) {
  // Opening the session required the right to write. Its captures do not depend on the scope of the key that
  // runs it, or on what happens to that key later.
  auto authority = workspace::system_authority(session.workspace, std::move(author),
                                               "files that a session's code wrote are kept for any author");
  return {.authority = std::move(authority),
          .source = {"execution", {{"session_id", session.id.with_prefix(workspace::prefix::session)}}}};
}

CaptureAs capture_as(const SessionInfo& session) {
  return capture_as(session, workspace::Author(session.owner, "session " + session.name));
}

CopyKeeper::CopyKeeper(const CopyContext& context, SessionInfo session)
    : context_(context),
      session_(std::move(session)),
      directory_(context.directory + "/" + session_.id.hex()),
      suspects_(directory_ + ".suspect") {}

CopyKeeper::~CopyKeeper() { detach(); }

bool CopyKeeper::exists() const {
  return std::filesystem::exists(directory_) || std::filesystem::exists(suspects_);
}

void CopyKeeper::attach() {
  detach();
  copy_ = std::make_unique<WorkingCopy>(directory_, context_.owner);
  manifest_ = std::make_unique<Manifest>(context_.keep.context(), session_.key(),
                                         context_.names == nullptr
                                             ? MemoryBudget::Share()
                                             : MemoryBudget::Share(*context_.names, session_.owner.hex()));
  capture_ =
      std::make_unique<Capture>(context_.keep, *copy_, *manifest_, session_.folder, context_.file_bytes_max);
  sync_ = std::make_unique<Sync>(context_.keep, *copy_, *manifest_, *capture_, session_.folder,
                                 Sync::Room{context_.brought_bytes_max, context_.reserve_bytes});
  manifest_->load();
  try {
    manifest_->need_memory(0);
  } catch (...) {
    detach();
    throw;
  }
}

void CopyKeeper::detach() {
  subscription_ = {};
  if (std::exchange(watched_, false)) context_.watcher.remove(session_.id);
  sync_.reset();
  capture_.reset();
  manifest_.reset();
  copy_.reset();
}

bool CopyKeeper::is_trusted(const CopyState& state) const {
  return state.identity == copy_->identity() && (state.boot.empty() || state.boot == context_.boot_id);
}

CopyState CopyKeeper::state_now(bool dirty) const {
  // Entries that were left out of the copy are looked for again from the beginning.
  return {dirty, copy_->identity(), sync_->has_skipped() ? 0 : synced_seq_, context_.boot_id};
}

Settled CopyKeeper::open(const CaptureAs& as) {
  Settled settled = bring_up_to_date(as);
  context_.watcher.add(session_.id, session_.owner, *copy_);
  watched_ = true;
  outside_changes_ = true;
  subscription_ = context_.keep.feed().subscribe(session_.workspace, [this] { outside_changes_ = true; });
  return settled;
}

void CopyKeeper::prepare() {
  attach();
  recorded_ = context_.records.copy_state(session_.id);
  is_trusted_ = is_trusted(recorded_);
  if (!is_trusted_) set_aside();
}

Settled CopyKeeper::bring_up_to_date(const CaptureAs& as) {
  if (!copy_) prepare();
  saved_refused_ = context_.records.unkept(session_.id);
  for (const auto& one : saved_refused_) {
    if (one.what != Unkept::What::aside) continue;
    has_aside_ = true;
    capture_->set_aside(one.path);
  }
  std::erase_if(saved_refused_, [](const Unkept& one) { return one.what != Unkept::What::refused; });
  Settled settled;
  if (std::filesystem::exists(suspects_)) settled = search_suspects(as);
  if (is_trusted_) {
    // Deletions by other clients come first: a comparison must not bring back a file that they deleted.
    synced_seq_ = sync_->bring_changes(as.authority, recorded_.synced_seq);
    CaptureAs after = as;
    after.after_kill = true;
    if (recorded_.dirty || !saved_refused_.empty()) settled.append(settle(everything(), {}, after));
  } else {
    manifest_->clear();
    synced_seq_ = sync_->bring_all(as.authority);
  }
  manifest_->save();
  save_refused();
  return settled;
}

void CopyKeeper::mark_used() {
  CopyState now = state_now(true);
  if (recorded_.dirty && recorded_.identity == now.identity && recorded_.boot == now.boot &&
      recorded_.synced_seq <= now.synced_seq)
    return;
  context_.records.save_copy_state(session_, now);
  recorded_ = now;
}

// Moves an untrusted copy away. Removes it instead when its record says that it holds nothing new; or when it
// has no record: that is written before code runs in a copy, and erased when all in it is kept.
void CopyKeeper::set_aside() {
  if (std::filesystem::is_empty(directory_)) return;
  bool holds_nothing_new = recorded_.identity == copy_->identity() && !recorded_.dirty;
  if (holds_nothing_new || recorded_.identity.empty()) {
    copy_->remove_all();
  } else {
    log::warn("a working copy comes from another boot or another folder; it is searched, not trusted",
              {{"session", session_.id.hex()}});
    std::filesystem::create_directories(suspects_);
    fsync_directory(context_.directory);
    std::filesystem::rename(directory_,
                            suspects_ + "/" + std::to_string(context_.keep.context().clock.now_us()));
    fsync_directory(suspects_);
  }
  attach();
}

Settled CopyKeeper::search_suspects(const CaptureAs& as) {
  suspect_left_.clear();
  Settled found;
  std::vector<std::string> folders;
  for (const auto& item : std::filesystem::directory_iterator(suspects_))
    if (!item.path().filename().string().starts_with(".")) folders.push_back(item.path().string());
  CaptureAs searching = as;
  searching.must_stop = context_.must_stop;
  searching.also = [&](catalog::Tx& tx, const std::vector<KeptFile>& kept) {
    check_owner(tx, session_.key());
    std::vector<Unkept> recovered;
    for (const auto& file : kept)
      recovered.push_back({file.path, Unkept::What::recovered, UnkeptReason::power_cut,
                           "found after the machine stopped without warning; it may be torn", file.version,
                           false});
    context_.records.add_unkept(tx, session_.id, recovered);
    if (as.also) as.also(tx, kept);
  };
  for (const auto& folder : folders) {
    WorkingCopy suspect(folder, context_.owner);
    Settled settled = capture_->search(suspect, searching);
    if (settled.not_kept.empty()) suspect.remove_all();
    suspect_left_.insert(suspect_left_.end(), settled.not_kept.begin(), settled.not_kept.end());
    found.append(std::move(settled));
  }
  if (suspect_left_.empty()) std::filesystem::remove_all(suspects_);
  return found;
}

Settled CopyKeeper::settle(const Touched& touched, const OpenFiles& open_files, CaptureAs as) {
  as.must_stop = context_.must_stop;
  as.also = [&, outer = std::move(as.also)](catalog::Tx& tx, const std::vector<KeptFile>& kept) {
    check_owner(tx, session_.key());
    std::vector<Unkept> aside;
    for (const auto& file : kept) {
      if (file.locked)
        aside.push_back({file.path, Unkept::What::aside, UnkeptReason::locked,
                         "another client has locked it; its bytes are kept as a version beside the head",
                         file.version, false});
      else if (has_aside_)
        context_.records.forget_aside(tx, session_.id, file);
    }
    if (!aside.empty()) has_aside_ = true;
    context_.records.add_unkept(tx, session_.id, aside);
    if (outer) outer(tx, kept);
  };
  Capture::Later later;
  if (watched_) later = [this] { return context_.watcher.take(session_.id); };
  Settled settled;
  try {
    settled = capture_->settle(touched, open_files, as, later);
  } catch (...) {
    save_refused();  // that not everything is compared is known after a restart, too
    throw;
  }
  if (auto postponed = capture_->take_postponed(); watched_ && !postponed.empty())
    context_.watcher.put_back(session_.id, postponed);
  for (const auto& [from, to] : settled.renamed) sync_->follow_rename(from, to);
  for (const auto& path : capture_->take_disowned()) sync_->bring_later(path);
  forget_gone_aside();
  save_refused();
  return settled;
}

// Removes deleted files from the list of versions kept aside. The capture has committed by now, so an error
// here must not remove its files from the answer.
void CopyKeeper::forget_gone_aside() {
  try {
    for (const auto& path : capture_->take_gone_aside()) context_.records.forget_aside(session_, path);
  } catch (const Error& error) {
    log::warn("versions kept aside are still listed", {{"error", error.message()}});
  }
}

void CopyKeeper::save_refused() {
  auto now = capture_->refused();
  for (const auto& item : suspect_left_)
    now.push_back({item.path, Unkept::What::refused, item.reason, item.message.text(), Id{}, true});
  if (now == saved_refused_) return;
  try {
    context_.records.save_refused(session_, now);
    saved_refused_ = std::move(now);
  } catch (const Error& error) {
    // The answer reports it anyway, and the next capture retries.
    log::warn("refused content could not be recorded", {{"error", error.message()}});
  }
}

Settled CopyKeeper::capture(Extent extent, const CaptureAs& as,
                            const std::function<OpenFiles()>& open_files) {
  Touched touched = context_.watcher.take(session_.id);
  touched.everything = touched.everything || extent == Extent::all;
  if (touched.empty() && !capture_->has_refused() && !capture_->has_placed()) return {};
  return capture_touched(touched, as, open_files);
}

Settled CopyKeeper::capture_early(const CaptureAs& as, const std::function<OpenFiles()>& open_files) {
  return has_room(as) ? capture(Extent::touched, as, open_files) : Settled{};
}

bool CopyKeeper::has_room(const CaptureAs& as) const {
  return !context_.keep.quotas().why_no_room_for_records(as.authority);
}

void CopyKeeper::place(const std::string& path, const std::function<void(const Pieces& take)>& fill) {
  auto write = [&](int fd) { fill([&](Bytes piece) { write_all(fd, piece, path); }); };
  // With a time of its own, which no later write leaves as it is.
  Node node = copy_->write_file(
      path, write, {.mode = 0644, .mtime_us = context_.keep.context().clock.now_us(), .replace = false});
  try {
    workspace::Intake intake(context_.keep.context(), {.size_max = context_.file_bytes_max});
    fill([&](Bytes piece) { intake.write(piece); });
    capture_->place({.path = path, .node = node, .content = intake.finish()});
  } catch (const Error&) {
    // The capture reads the file from the copy and refuses it for the same reason.
  }
}

Settled CopyKeeper::retry(const CaptureAs& as, const std::function<OpenFiles()>& open_files) {
  Settled settled;
  if (std::filesystem::exists(suspects_)) settled = search_suspects(as);
  settled.append(capture(Extent::all, as, open_files));
  return settled;
}

Settled CopyKeeper::capture_touched(const Touched& touched, const CaptureAs& as,
                                    const std::function<OpenFiles()>& open_files) {
  OpenFiles open;
  Settled settled;
  try {
    if (open_files && !capture_->is_only_placed(touched)) open = open_files();
    settled = settle(touched, open, as);
  } catch (...) {
    context_.watcher.put_back(session_.id, everything());
    throw;
  }
  if (!open.empty()) {
    // A file that is still being written: look again next time, whether or not an event reports it.
    Touched again;
    again.opened = true;
    context_.watcher.put_back(session_.id, again);
  }
  return settled;
}

Settled CopyKeeper::capture_between_cells(const CaptureAs& as, const std::function<OpenFiles()>& open_files) {
  constexpr size_t kTurnsMax = 10'000;
  constexpr int64_t kLongestS = 60;
  if (!has_room(as)) return {};
  TimeUs now_us = context_.keep.context().clock.now_us();
  if (turns_.size() > kTurnsMax) turns_.clear();
  auto is_due = [&](const std::string& key) {
    Turn& turn = turns_[key];
    if (turn.next_us > now_us) return false;
    turn.next_us = now_us + std::min(kLongestS, int64_t{1} << std::min(turn.count++, 6)) * kSecondUs;
    return true;
  };
  Touched all = context_.watcher.take(session_.id), now, later;
  auto divide = [&](const std::set<std::string>& from, std::set<std::string>& due,
                    std::set<std::string>& not_due) {
    for (const auto& path : from) (is_due(path) ? due : not_due).insert(path);
  };
  divide(all.paths, now.paths, later.paths);
  divide(all.folders, now.folders, later.folders);
  divide(all.members, now.members, later.members);
  // Keys that cannot be paths.
  if (all.opened) (is_due("//opened") ? now : later).opened = true;
  if (all.everything) (is_due("//everything") ? now : later).everything = true;
  if (!later.empty()) context_.watcher.put_back(session_.id, later);
  return now.empty() ? Settled{} : capture_touched(now, as, open_files);
}

std::vector<Sentence> CopyKeeper::bring_outside_changes(const CaptureAs& as,
                                                        const std::function<OpenFiles()>& open_files) {
  if (outside_changes_.exchange(false) || sync_->has_skipped()) {
    try {
      sync_->ask_for_open_files(open_files);
      synced_seq_ = sync_->bring_changes(as.authority, synced_seq_);
      manifest_->save();
    } catch (const Error& error) {
      outside_changes_ = true;
      if (error.code() != Code::too_large) throw;
      // Code must be able to remove files.
      manifest_->release_memory();
      return {"what others changed in the workspace could not be brought here: " + error.sentence()};
    }
  }
  return sync_->take_untold();
}

CopyKeeper::Closed CopyKeeper::close(const CaptureAs& as) {
  Closed closed;
  if (!copy_) return {true, std::vector<NotKept>{}};
  try {
    sync_->ask_for_open_files({});
    synced_seq_ = sync_->bring_changes(as.authority, synced_seq_);
    CaptureAs after = as;
    after.after_kill = true;
    auto not_kept = settle(everything(), {}, after).not_kept;
    manifest_->save();
    not_kept.insert(not_kept.end(), suspect_left_.begin(), suspect_left_.end());
    // Unrecorded changes are still in the copy.
    bool is_pending = capture_->has_refused();
    closed.kept = not_kept.empty() && !is_pending;
    std::erase_if(not_kept, [](const NotKept& item) { return !item.only_copy; });
    recorded_ = state_now(!not_kept.empty() || is_pending);
    context_.records.save_copy_state(session_, recorded_);
    closed.only_copies = std::move(not_kept);
  } catch (const std::exception& error) {
    closed = {};
    log::error("a session's last files could not be kept; its copy stays and will be compared again",
               {{"session", session_.id.hex()}, {"error", error.what()}});
  }
  detach();
  return closed;
}

CopyKeeper::Closed CopyKeeper::recover(const CaptureAs& as) {
  bring_up_to_date(as);
  return close(as);
}

CopyKeeper::Closed CopyKeeper::look_for_only_copies(const CaptureAs& as) {
  try {
    prepare();
    return recover(as);
  } catch (const std::exception& error) {
    detach();
    log::error("a session's files could not be compared",
               {{"session", session_.id.hex()}, {"error", error.what()}});
    return {};
  }
}

bool CopyKeeper::evict(const CaptureAs& as) {
  try {
    if (exists() && !look_for_only_copies(as).kept) return false;
    context_.records.forget_copy(session_);
    remove();
    return !exists();
  } catch (const std::exception& error) {
    log::error("a working copy could not be removed",
               {{"session", session_.id.hex()}, {"error", error.what()}});
    return false;
  }
}

void CopyKeeper::remove() {
  detach();
  try {
    if (std::filesystem::exists(directory_)) WorkingCopy(directory_, context_.owner).remove_all();
    if (std::filesystem::exists(suspects_)) WorkingCopy(suspects_, context_.owner).remove_all();
  } catch (const std::exception& error) {
    log::error("the working copy of a session could not be removed",
               {{"folder", directory_}, {"error", error.what()}});
  }
}

}  // namespace sk::interpreter
