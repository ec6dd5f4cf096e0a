#include "interpreter/run/session_rights.h"

namespace sk::interpreter {

void SessionRights::admit(const workspace::Authority& authority, workspace::Revocations::OnEnd on_end) {
  // Under the mutex, so that `on_end` finds what it has to remove.
  MutexLock lock(mutex_);
  auto& watch = by_key_[authority.actor().key()];
  if (watch) return watch->check();
  try {
    watch = std::make_shared<const workspace::RightWatch>(
        revocations_.watch(authority, workspace::Right::write, std::move(on_end)));
  } catch (const Error&) {
    by_key_.erase(authority.actor().key());
    throw;
  }
}

void SessionRights::remove(const Id& key) {
  MutexLock lock(mutex_);
  by_key_.erase(key);
}

void SessionRights::check(const Id& key) const {
  std::shared_ptr<const workspace::RightWatch> watch;
  {
    MutexLock lock(mutex_);
    if (auto found = by_key_.find(key); found != by_key_.end()) watch = found->second;
  }
  if (!watch) throw Error(Code::unauthorized, "this key has no right here any more");
  watch->check();
}

std::optional<std::string> SessionRights::ended(const Id& key) const {
  try {
    check(key);
    return std::nullopt;
  } catch (const Error& error) {
    return message_of(error);
  }
}

std::string SessionRights::message_of(const Error& error) {
  return "the right to run it ended: " + error.message();
}

}  // namespace sk::interpreter
