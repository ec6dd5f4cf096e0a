#include "followers/tail.h"

namespace sk::followers {

namespace {
constexpr std::chrono::milliseconds kSoon{20};
}

Tail::Tail(workspace::Keep& keep, Background& background, Options options, Calls calls)
    : journal_(keep.journal()),
      background_(background),
      options_(std::move(options)),
      calls_(std::move(calls)),
      after_(options_.after) {}

std::shared_ptr<Tail> Tail::start(workspace::Keep& keep, Background& background, Options options,
                                  Calls calls) {
  auto tail = std::make_shared<Tail>(keep, background, std::move(options), std::move(calls));
  MutexLock lock(tail->mutex_);  // the first step may come before watch_ is set
  tail->watch_.emplace(keep.feed(), background, tail->options_.workspace, [weak = std::weak_ptr(tail)] {
    if (auto strong = weak.lock()) strong->step();
  });
  tail->watch_->poke();
  return tail;
}

void Tail::step() {
  MutexLock lock(mutex_);
  if (ended_) return;
  try {
    auto next = calls_.before();
    if (next == Next::go_on) next = read();
    if (next == Next::later) look_again_soon();
    ended_ = next == Next::end;
  } catch (const Error& error) {
    ended_ = true;
    calls_.on_error(error);
  }
}

Tail::Next Tail::read() {
  auto events = journal_.events(calls_.journal(), after_, options_.batch_max, options_.filter);
  after_ = events.cursor;
  auto next = calls_.on_events(events);
  if (events.has_more && next == Next::go_on) watch_->poke();
  return next;
}

void Tail::look_again_soon() {
  background_.run_after(kSoon, [weak = weak_from_this()] {
    auto strong = weak.lock();
    if (!strong) return;
    MutexLock lock(strong->mutex_);
    strong->watch_->poke();
  });
}

}  // namespace sk::followers
