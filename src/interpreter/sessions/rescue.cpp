#include "interpreter/sessions/rescue.h"

#include <future>
#include <set>

#include "base/error.h"
#include "interpreter/sessions/session_directory.h"

namespace sk::interpreter {

namespace {

constexpr size_t kThreads = 2;
constexpr size_t kRetriesWaitingMax = 1'000;

}  // namespace

Rescue::Rescue(workspace::Keep& keep, Records& records, Registry& registry, const CopyContext& copies)
    : keep_(keep),
      records_(records),
      registry_(registry),
      copies_(copies),
      threads_(kThreads, kRetriesWaitingMax) {}

void Rescue::stop() {
  stopping_ = true;
  threads_.stop();
}

void Rescue::retry(const workspace::Authority& authority, const Id& session,
                   std::function<void(Interpreter::Retried)> then) {
  auto job = [this, authority, session, then = std::move(then)] {
    Interpreter::Retried retried;
    try {
      retried = retry_now(authority, session);
    } catch (const Error& error) {
      retried.error = error;
    } catch (const std::exception& error) {
      retried.error = Error(Code::internal, error.what());
    }
    then(std::move(retried));
  };
  if (!threads_.submit(std::move(job)))
    throw Error(Code::unavailable, "too many retries are waiting, or the server is stopping");
}

Interpreter::Retried Rescue::retry_now(const workspace::Authority& authority, const Id& session) {
  auto before = records_.unkept(session);
  capture_refused(session);
  if (auto info = records_.find(session)) make_heads(authority, *info);
  auto after = records_.unkept(session);
  Interpreter::Retried retried;
  std::set<std::pair<std::string_view, Unkept::What>> left;
  for (const auto& item : after) {
    left.emplace(item.path, item.what);
    if (item.what != Unkept::What::recovered) ++retried.remaining;
  }
  for (const auto& item : before)
    if (!left.contains({item.path, item.what})) ++retried.settled;
  return retried;
}

// Compares the whole copy, which retries everything that was refused.
void Rescue::capture_refused(const Id& session) {
  auto tried = LiveSession::Tried::retired;
  while (tried == LiveSession::Tried::retired) {
    if (stopping_) throw Error(Code::unavailable, "the server is stopping");
    std::optional<Registry::Lease> lease(registry_.acquire(session));
    auto info = records_.find(session);
    if (!info || info->deleted_us) throw deleted_error();
    if (auto live = lease->live()) {
      lease.reset();  // the live session owns the copy, on its strand, until it is retired
      auto done = std::make_shared<std::promise<LiveSession::Tried>>();
      live->retry_unkept([done](LiveSession::Tried how) { done->set_value(how); });
      tried = done->get_future().get();
    } else {
      CopyKeeper keeper(copies_, *info);
      bool compared =
          !keeper.exists() || keeper.look_for_only_copies(capture_as(*info)).only_copies.has_value();
      tried = compared ? LiveSession::Tried::done : LiveSession::Tried::failed;
    }
  }
  if (tried == LiveSession::Tried::failed)
    throw Error(Code::unavailable, "the session's files could not be compared, so nothing was retried")
        .advise(Advice::read_log);
}

// Makes heads of versions that were kept aside, where nothing prevents it any more.
void Rescue::make_heads(const workspace::Authority& authority, const SessionInfo& session) {
  for (const auto& item : records_.unkept(session.id)) {
    if (item.what != Unkept::What::aside) continue;
    auto version = keep_.files().find_version(authority, item.version);
    if (!version) continue;  // purged meanwhile, and no longer listed
    try {
      make_head(authority, *version);
    } catch (const Error& error) {
      explain(session, item, error);
      continue;
    }
    records_.forget_unkept(authority, session, item);
  }
}

// Only over the head that the version is based on: a later write of another client is newer.
void Rescue::make_head(const workspace::Authority& authority, const workspace::Version& version) {
  auto entry = keep_.files().find_by_id(authority, version.file);
  // The capture itself put a new file at a locked path into the trash; other trashed files were deleted by a
  // client.
  if (entry && entry->trashed_us && *entry->trashed_us == version.created_us) {
    keep_.files().restore(authority, version.file, workspace::OnExisting::refuse);
    return;
  }
  workspace::RestoreVersionChange change{version.id, {}};
  change.conditions.if_match = {version.base};
  keep_.files().apply_one(authority, std::move(change));
}

void Rescue::explain(const SessionInfo& session, Unkept item, const Error& error) {
  item.reason = reason_of(error);
  item.message = error.code() == Code::precondition_failed
                     ? "another client wrote the file since; restore this version to make it the head"
                     : error.message();
  records_.explain_unkept(session, item);
}

void Rescue::refuse_if_unkept(const Id& session) {
  auto only_copies = [&] {
    std::vector<NotKept> found;
    for (auto& item : records_.unkept(session))
      if (item.what == Unkept::What::refused && item.only_copy)
        found.push_back({item.path, item.reason, item.message, true});
    return found;
  };
  auto live = registry_.find(session);
  if (!live || only_copies().empty()) return;
  auto tried = std::make_shared<std::promise<void>>();
  live->retry_unkept([tried](LiveSession::Tried) { tried->set_value(); });
  tried->get_future().wait();
  if (auto found = only_copies(); !found.empty()) throw only_copies_error(found);
}

Error only_copies_error(const std::vector<NotKept>& items) {
  constexpr size_t kNamed = 3, kListed = 100;
  Sentence named, listed;
  for (size_t i = 0; i < items.size() && i < kListed; ++i) {
    auto path = Sentence::of_path(items[i].path);
    if (i < kNamed) named += (i == 0 ? "" : ", ") + path + " (" + name_of(items[i].reason) + ")";
    listed += (i == 0 ? "" : "\n") + path;
  }
  if (items.size() > kNamed) named += " and " + std::to_string(items.size() - kNamed) + " more";
  return Error(Code::conflict, "not deleted, because files that could not be kept would be lost: " + named)
      .advise(Advice::keep_files_first)
      .with_paths("not_kept", listed)
      .with("not_kept_count", static_cast<int64_t>(items.size()));
}

}  // namespace sk::interpreter
