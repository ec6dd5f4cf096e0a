#include "workspace/revocations.h"

#include "base/log.h"
#include "identity/access.h"

namespace sk::workspace {

namespace {

// Above this number, every watch is asked.
constexpr size_t kChangedMax = 1'000;
constexpr std::chrono::seconds kExpiryLook{1};

bool means_lost(const Error& error) {
  return error.code() == Code::unauthorized || error.code() == Code::forbidden ||
         error.code() == Code::not_found;
}

}  // namespace

struct RightWatch::State {
  State(Revocations& by, const Actor& whose, std::optional<Authority> in, Right wanted)
      : revocations(by), actor(whose), authority(std::move(in)), right(wanted) {}

  bool is_of_one(const std::unordered_set<Id>& subjects) const {
    return subjects.contains(actor.key()) || subjects.contains(actor.principal()) ||
           (authority && subjects.contains(authority->workspace_id()));
  }
  bool has_expired(TimeUs now_us) const { return actor.expires_us() && *actor.expires_us() <= now_us; }

  Revocations& revocations;
  const Actor actor;
  const std::optional<Authority> authority;  // unset: the key only
  const Right right;
  mutable std::atomic<uint64_t> checked{0};  // the right was read after this announcement
  Revocations::OnEnd on_end;                 // used with the mutex of `revocations` held
};

RightWatch& RightWatch::operator=(RightWatch&& other) noexcept {
  if (this != &other) {
    end();
    state_ = std::move(other.state_);
  }
  return *this;
}

RightWatch::~RightWatch() { end(); }

void RightWatch::end() {
  if (state_) state_->revocations.remove(*state_);
  state_.reset();
}

void RightWatch::check() const {
  if (state_) state_->revocations.ask(*state_);
}

RightWatch Revocations::watch(const Authority& authority, Right right, OnEnd on_end, RightsMoment checked) {
  return add(authority.actor(), authority, right, std::move(on_end), checked);
}

RightWatch Revocations::watch_key(const Actor& actor, OnEnd on_end, RightsMoment checked) {
  return add(actor, std::nullopt, Right::read, std::move(on_end), checked);
}

RightWatch Revocations::add(const Actor& actor, std::optional<Authority> authority, Right right, OnEnd on_end,
                            RightsMoment checked) {
  auto state = std::make_shared<RightWatch::State>(*this, actor, std::move(authority), right);
  state->checked = checked.number_;
  state->on_end = std::move(on_end);
  {
    MutexLock lock(mutex_);
    watches_.emplace(state.get(), state);
    // The first one: the thread begins to look at the time.
    if (actor.expires_us() && ++expiring_ == 1) wake_.notify_all();
  }
  RightWatch made(state);
  made.check();  // after it was added: what is announced from now on reaches it
  return made;
}

void Revocations::ask(const RightWatch::State& state) {
  uint64_t announced = announced_;
  TimeUs now_us = clock_.now_us();
  if (state.checked == announced && !state.has_expired(now_us)) return;
  db_.read([&](catalog::Statements& statements) {
    if (state.authority)
      check_still_holds(statements, now_us, *state.authority, state.right);
    else
      identity::Access::check_key(statements, state.actor, now_us);
  });
  state.checked = announced;
}

Revocations::OnEnd Revocations::remove(const RightWatch::State& state) {
  MutexLock lock(mutex_);
  auto found = watches_.find(&state);
  if (found == watches_.end()) return {};
  OnEnd on_end = std::move(found->second->on_end);
  if (state.actor.expires_us()) --expiring_;
  watches_.erase(found);
  return on_end;
}

void Revocations::announce(const Id& subject) {
  MutexLock lock(mutex_);
  ++announced_;
  if (changed_.size() < kChangedMax)
    changed_.insert(subject);
  else
    any_changed_ = true;
  wake_.notify_all();
}

void Revocations::start() {
  thread_ = std::thread([this] { run(); });
}

void Revocations::stop() {
  {
    MutexLock lock(mutex_);
    stopping_ = true;
    wake_.notify_all();
  }
  if (thread_.joinable()) thread_.join();
}

void Revocations::run() {
  MutexLock lock(mutex_);
  auto must_look = [this]() SK_REQUIRES(mutex_) { return stopping_ || any_changed_ || !changed_.empty(); };
  while (!stopping_) {
    if (expiring_ > 0)
      wake_.wait_for(lock, kExpiryLook, must_look);
    else
      wake_.wait(lock, [&]() SK_REQUIRES(mutex_) { return must_look() || expiring_ > 0; });
    auto concerned = take_concerned();
    lock.unlock();
    for (const auto& state : concerned) end_if_lost(state);
    lock.lock();
  }
}

std::vector<Revocations::StatePtr> Revocations::take_concerned() {
  std::vector<StatePtr> concerned;
  TimeUs now_us = clock_.now_us();
  for (const auto& [key, state] : watches_)
    if (any_changed_ || state->is_of_one(changed_) || state->has_expired(now_us)) concerned.push_back(state);
  changed_.clear();
  any_changed_ = false;
  return concerned;
}

void Revocations::end_if_lost(const StatePtr& state) {
  try {
    ask(*state);
  } catch (const Error& error) {
    // A right that the catalog could not tell is asked for again with the next announcement, and before the
    // next write.
    if (!means_lost(error)) return log::error("a right could not be checked", {{"error", error.message()}});
    if (auto on_end = remove(*state)) on_end(error);
  }
}

}  // namespace sk::workspace
