// The concurrent promises; also run under ThreadSanitizer.
#include <set>
#include <thread>

#include "keep_fixture.h"

namespace sk::workspace {
namespace {

TEST_F(KeepTest, TwoWritersWithPreconditionsLoseNoUpdateInTenThousandRounds) {
  constexpr int kThreads = 4, kRounds = 2'500;
  strict_writes = false;
  reopen();
  put("counter", "0");
  std::vector<std::thread> threads;
  std::atomic<int> conflicts{0};
  for (int t = 0; t < kThreads; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < kRounds;) {
        auto entry = keep->files().get(ws, "counter");
        int value = std::stoi(ContentReader(keep->context(), entry.sha256, 0, entry.size).read_all());
        PutChange change = put_change("counter", std::to_string(value + 1));
        change.conditions.if_match = {entry.head};
        try {
          keep->files().apply_one(ws, std::move(change));
          ++i;
        } catch (const Error& error) {
          ASSERT_EQ(error.code(), Code::precondition_failed) << error.message();
          ++conflicts;
        }
      }
    });
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(bytes_at("counter"), std::to_string(kThreads * kRounds));
  EXPECT_EQ(keep->files().get(ws, "counter").version_count, kThreads * kRounds + 1);
}

TEST_F(KeepTest, TwoWritersWithoutPreconditionsLoseNoVersion) {
  constexpr int kThreads = 4, kRounds = 500;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < kRounds; ++i)
        keep->files().apply_one(ws, put_change("file", std::to_string(t) + "-" + std::to_string(i)));
    });
  for (auto& thread : threads) thread.join();
  auto entry = keep->files().get(ws, "file");
  EXPECT_EQ(entry.version_count, kThreads * kRounds);
  std::set<std::string> contents;
  std::string cursor;
  for (;;) {
    auto page = keep->files().versions(ws, entry.id, cursor, 1000);
    for (const auto& version : page.items) contents.insert(bytes_of(version));
    if (!page.has_more) break;
    cursor = page.next_cursor;
  }
  EXPECT_EQ(contents.size(), static_cast<size_t>(kThreads * kRounds));
}

TEST_F(KeepTest, LockedWritersNeverInterleave) {
  constexpr int kThreads = 4, kRounds = 100;
  put("counter", "0");
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < kRounds;) {
        LockWanted wanted;
        wanted.path = "counter";
        auto attempt = keep->locks().try_acquire(ws, wanted);
        if (!attempt.lock) {
          std::this_thread::yield();
          continue;
        }
        int value = std::stoi(bytes_at("counter"));
        PutChange change = put_change("counter", std::to_string(value + 1));
        change.conditions.lock_tokens = {attempt.lock->token};
        change.conditions.fence = attempt.lock->fence;
        keep->files().apply_one(ws, std::move(change));
        keep->locks().release(ws, attempt.lock->token);
        ++i;
      }
    });
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(bytes_at("counter"), std::to_string(kThreads * kRounds));
}

TEST_F(KeepTest, TheCollectorNeverTakesWhatAWriterOfTheSameContentKeeps) {
  // One thread writes and purges the same contents over and over while another collects: at every moment what
  // is listed can be read.
  std::atomic<bool> stop{false};
  std::thread collector([&] {
    while (!stop) keep->upkeep().collect();
  });
  std::vector<std::string> contents;
  for (int i = 0; i < 4; ++i)
    contents.push_back(std::string(140'000 + static_cast<size_t>(i), static_cast<char>('a' + i)));
  std::vector<std::thread> writers;
  for (int t = 0; t < 2; ++t)
    writers.emplace_back([&, t] {
      for (int i = 0; i < 150; ++i) {
        std::string path = "w" + std::to_string(t);
        const std::string& bytes = contents[static_cast<size_t>(i) % contents.size()];
        auto result = keep->files().apply_one(ws, put_change(path, bytes));
        ASSERT_TRUE(bytes_of(*result.version) == bytes);
        keep->files().apply_one(ws, TrashChange{path, {}});
        keep->files().purge(ws, result.entry.id);
      }
    });
  for (auto& writer : writers) writer.join();
  stop = true;
  collector.join();
  keep->upkeep().collect(0);
  expect_clean();
  EXPECT_EQ(keep->upkeep().verify().blobs, 0);
}

}  // namespace
}  // namespace sk::workspace
