// Events that a follower got, for tests that wait for them.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "followers/follower.h"
#include "unit/workspace/keep_fixture.h"

namespace sk::followers {

// Any thread.
class Followed {
 public:
  void add(const std::vector<workspace::JournalEntry>& events) {
    std::lock_guard lock(mutex_);
    ++batches_;
    for (const auto& event : events) events_.push_back(event);
    more_.notify_all();
  }
  // Waits until there are `count` of them; returns all, as "kind path".
  std::vector<std::string> wait_for(size_t count) {
    std::unique_lock lock(mutex_);
    EXPECT_TRUE(more_.wait_for(lock, std::chrono::seconds(60), [&] { return events_.size() >= count; }));
    std::vector<std::string> out;
    for (const auto& event : events_) out.push_back(event.kind + " " + event.personal.value("path", ""));
    return out;
  }
  std::vector<workspace::JournalEntry> events() {
    std::lock_guard lock(mutex_);
    return events_;
  }
  int batches() {
    std::lock_guard lock(mutex_);
    return batches_;
  }
  Follower::OnEvents handler() {
    return [this](const auto& events, const std::stop_token&) { add(events); };
  }

 private:
  std::mutex mutex_;
  std::condition_variable more_;
  int batches_ = 0;
  std::vector<workspace::JournalEntry> events_;
};

// Whether `is_so` becomes true within a minute.
template <class F>
bool eventually(const F& is_so) {
  auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (!is_so()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}

class FollowersTest : public workspace::KeepTest {
 protected:
  static FollowerOptions options(std::string name = "test") {
    FollowerOptions out;
    out.name = std::move(name);
    out.filter.kinds = {"file.create"};
    out.delay = std::chrono::milliseconds(0);
    out.retry_min = std::chrono::milliseconds(1);
    out.retry_max = std::chrono::milliseconds(5);
    out.save_interval = std::chrono::milliseconds(0);
    return out;
  }
  std::unique_ptr<Follower> follow(FollowerOptions wanted, Follower::OnEvents handler) {
    auto out = std::make_unique<Follower>(*keep, metrics, std::move(wanted), std::move(handler));
    out->start();
    return out;
  }
  // A durable follower that began before the files of a test were made.
  void introduce(const FollowerOptions& wanted) { durable_cursors(*keep, wanted.name, wanted.begin)->open(); }

  void put_into(const std::string& name, const std::string& path) {
    auto into = keep->workspaces().open(actor, name, workspace::Right::write);
    workspace::PutChange change;
    change.path = path;
    change.content = content(path);
    keep->files().apply_one(into, std::move(change));
  }
  static std::vector<std::string> created(int from, int to) {
    std::vector<std::string> out;
    for (int i = from; i < to; ++i) out.push_back("file.create " + std::to_string(i));
    return out;
  }
};

}  // namespace sk::followers
