#include "interpreter/sessions/rescue.h"

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

void Rescue::stop() { threads_.stop(); }

template <class T>
Later<T> Rescue::aside(T value) {
  Promise<T> promise;
  auto held = std::make_shared<T>(std::move(value));  // jobs are copied
  if (!threads_.submit([promise, held] { promise.set(std::move(*held)); }))
    throw Error(Code::unavailable, "too many retries are waiting, or the server is stopping");
  return promise.later();
}

// Waits for a strand, without a thread.
static Later<LiveSession::Tried> retry_of(LiveSession& live) {
  Promise<LiveSession::Tried> promise;
  live.retry_unkept([promise](LiveSession::Tried how) { promise.set(how); });
  return promise.later();
}

Later<Interpreter::Retried> Rescue::retry(const workspace::Authority& authority, const Id& session) {
  auto before = records_.unkept(session);
  return capture_refused(session)
      .chain([this](LiveSession::Tried tried) {
        if (tried == LiveSession::Tried::failed)
          throw Error(Code::unavailable, "the session's files could not be compared, so nothing was retried")
              .advise(Advice::retry_or_ask_operator);
        return aside(tried);
      })
      .map([this, authority, session, before = std::move(before)](LiveSession::Tried) {
        return settle(authority, session, before);
      });
}

Interpreter::Retried Rescue::settle(const workspace::Authority& authority, const Id& session,
                                    const std::vector<Unkept>& before) {
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
Later<LiveSession::Tried> Rescue::capture_refused(const Id& session) {
  using Tried = LiveSession::Tried;
  return registry_.acquire(session).chain([this](Registry::Lease lease) -> Later<Tried> {
    const Id id = lease.id();
    auto info = records_.find(id);
    if (!info || info->deleted_us) throw deleted_error();
    auto live = lease.live();
    if (!live)
      return aside(std::move(lease)).map([this, info = *info](const Registry::Lease&) {
        return compare(info);
      });
    // The live session owns the copy, on its strand, until it is retired. The lease is not needed for that.
    return retry_of(*live).chain([this, id](Tried tried) -> Later<Tried> {
      if (tried == Tried::retired) return capture_refused(id);
      return tried;
    });
  });
}

LiveSession::Tried Rescue::compare(const SessionInfo& session) {
  CopyKeeper keeper(copies_, session);
  bool compared =
      !keeper.exists() || keeper.look_for_only_copies(capture_as(session)).only_copies.has_value();
  return compared ? LiveSession::Tried::done : LiveSession::Tried::failed;
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

std::vector<NotKept> Rescue::only_copies(const Id& session) {
  std::vector<NotKept> found;
  for (auto& item : records_.unkept(session))
    if (item.what == Unkept::What::refused && item.only_copy)
      found.push_back({item.path, item.reason, item.message, true});
  return found;
}

Later<Done> Rescue::refuse_if_unkept(const Id& session) {
  auto live = registry_.find(session);
  if (!live || only_copies(session).empty()) return Done{};
  return retry_of(*live).map([this, session](LiveSession::Tried) {
    if (auto found = only_copies(session); !found.empty()) throw only_copies_error(found);
    return Done{};
  });
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
