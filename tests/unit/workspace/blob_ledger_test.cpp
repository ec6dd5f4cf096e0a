// The collector beside writers and readers of the same content, one step at a time and without threads.
#include <fcntl.h>
#include <sys/stat.h>

#include <filesystem>
#include <thread>

#include "keep_fixture.h"

namespace sk::workspace {
namespace {

namespace fs = std::filesystem;

// Several chunks.
std::string large_content(char seed = 'a') {
  std::string out;
  uint64_t state = static_cast<unsigned char>(seed);
  while (out.size() < (9u << 20)) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    out.append(reinterpret_cast<const char*>(&state), sizeof state);
  }
  return out;
}

class LedgerTest : public KeepTest {
 protected:
  void purge_file(const std::string& path) {
    auto id = keep->files().get(ws, path).id;
    apply(TrashChange{path, {}});
    keep->files().purge(ws, id);
  }
  size_t blob_rows() {
    return keep->context().db.read([](catalog::Statements& statements) {
      return statements.query("SELECT 1 FROM blobs", {}, [](const catalog::Row&) { return true; });
    });
  }
  size_t blob_files() {
    size_t count = 0;
    keep->context().blobs.for_each([&](const std::string&, uint64_t, int64_t) {
      ++count;
      return true;
    });
    return count;
  }
  BlobLedger& ledger() { return keep->context().ledger; }
};

TEST_F(LedgerTest, ContentThatWasCollectedInPartIsKeptAgain) {
  const auto bytes = large_content();
  const auto hash = put("a", bytes).version->sha256;
  purge_file("a");
  // A writer of the same content has come as far as its root while the collector runs.
  ledger().pin(hash);
  keep->upkeep().collect();
  ledger().unpin(hash);
  EXPECT_EQ(blob_rows(), 1u);
  expect_clean();
  put("b", bytes);
  EXPECT_TRUE(bytes_at("b") == bytes);
  expect_clean();
  keep->upkeep().collect(0);
  EXPECT_TRUE(bytes_at("b") == bytes);
  expect_clean();
}

TEST_F(LedgerTest, AWriterThatFoundItsContentKeepsItFromTheCollector) {
  // The second has a last chunk so small that it is kept in its row, and is not pinned.
  for (const auto& bytes : {large_content(), std::string((8u << 20) + 50'000, 'x')}) {
    put("a", bytes);
    auto change = put_change("b", bytes);
    EXPECT_TRUE(change.content.written().root().known);
    purge_file("a");
    keep->upkeep().collect(0);
    keep->files().apply_one(ws, std::move(change));
    EXPECT_TRUE(bytes_at("b") == bytes);
    expect_clean();
    purge_file("b");
  }
}

TEST_F(LedgerTest, AWriterThatGivesUpLeavesItsContentToTheCollector) {
  for (const auto& bytes : {large_content(), std::string(200'000, 'x'), std::string("small")}) {
    put("a", bytes);
    {
      auto change = put_change("b", bytes);
      purge_file("a");
      keep->upkeep().collect(0);
    }
    EXPECT_EQ(ledger().pinned(), 0u);
    keep->upkeep().collect(0);
    EXPECT_EQ(blob_rows(), 0u);
    EXPECT_EQ(blob_files(), 0u);
    expect_clean();
  }
}

TEST_F(LedgerTest, TheFilesOfAWriteUnderWayAreNoOrphans) {
  for (const auto& bytes : {large_content(), std::string(200'000, 'x')}) {
    auto change = put_change("a", bytes);
    EXPECT_EQ(keep->upkeep().collect(0).orphans, 0);
    keep->files().apply_one(ws, std::move(change));
    EXPECT_TRUE(bytes_at("a") == bytes);
    expect_clean();
  }
}

TEST_F(LedgerTest, TwoNamesOfOneContentKeepItsBytes) {
  for (const auto& bytes : {large_content(), std::string(200'000, 'x')}) {
    auto first = put_change("a", bytes);
    PutChange second;
    second.path = "b";
    second.content = first.content;
    keep->files().apply(ws, {std::move(first), std::move(second)});
    EXPECT_TRUE(bytes_at("a") == bytes);
    EXPECT_TRUE(bytes_at("b") == bytes);
    expect_clean();
    purge_file("a");
    purge_file("b");
  }
}

TEST_F(LedgerTest, ADoomedBlobIsWrittenAgain) {
  const std::string bytes(200'000, 'x');
  const auto hash = put("a", bytes).version->sha256;
  purge_file("a");
  ASSERT_EQ(ledger().doom({hash}).size(), 1u);
  auto change = put_change("b", bytes);
  EXPECT_FALSE(change.content.written().root().known);
  EXPECT_EQ(ledger().doom({hash}).size(), 0u);
  ledger().undoom({hash});
  // The row is still there: the new file is superfluous, and goes.
  keep->files().apply_one(ws, std::move(change));
  EXPECT_EQ(blob_files(), 1u);
  EXPECT_TRUE(bytes_at("b") == bytes);
  keep->upkeep().collect(0);
  EXPECT_TRUE(bytes_at("b") == bytes);
  expect_clean();
}

TEST_F(LedgerTest, WhatIsPinnedIsNotDoomed) {
  const Sha256 hash = sha256("some content");
  EXPECT_FALSE(ledger().pin(hash));
  EXPECT_FALSE(ledger().pin(hash));
  EXPECT_TRUE(ledger().doom({hash}).empty());
  ledger().unpin(hash);
  EXPECT_TRUE(ledger().doom({hash}).empty());
  ledger().unpin(hash);
  EXPECT_EQ(ledger().doom({hash, hash}).size(), 1u);
  ledger().undoom({hash});
}

class FailingDatabase final : public catalog::Database {
  void run_write(const catalog::Scope&, const std::function<void(catalog::Tx&)>&,
                 catalog::Survives) override {
    throw Error(Code::internal, "broken");
  }
  void run_read(const std::function<void(catalog::Statements&)>&) override {
    throw Error(Code::internal, "broken");
  }
  size_t queued_writes() const override { return 0; }
  const Clock& clock() const override { return clock_; }
  bool commits_shared_rows_first() const override { return false; }
  SystemClock clock_;
};

TEST_F(LedgerTest, APinWhoseLookUpFailsIsNotKept) {
  FailingDatabase broken;
  BlobLedger failing(broken);
  const Sha256 hash = sha256("some content");
  EXPECT_EQ(code_of([&] { failing.pin(hash); }), Code::internal);
  EXPECT_EQ(failing.pinned(), 0u);
  EXPECT_EQ(failing.doom({hash}).size(), 1u);
}

TEST_F(LedgerTest, ABlobThatWasRecordedBeforeARefusedWriteIsWholeUntilItIsCollected) {
  const auto bytes = large_content();
  Conditions new_only;
  new_only.if_none_match_any = true;
  put("a", "1");
  EXPECT_EQ(code_of([&] { put("a", bytes, new_only); }), Code::precondition_failed);
  EXPECT_GT(blob_rows(), 1u);
  EXPECT_GT(blob_files(), 0u);
  expect_clean();
  // The next writer of the same content relies on what is recorded.
  auto change = put_change("b", bytes);
  EXPECT_TRUE(change.content.written().root().known);
  keep->files().apply_one(ws, std::move(change));
  EXPECT_TRUE(bytes_at("b") == bytes);
  purge_file("b");
  keep->upkeep().collect(0);
  EXPECT_EQ(blob_rows(), 1u);
  EXPECT_EQ(blob_files(), 0u);
  expect_clean();
}

TEST_F(LedgerTest, AWriteThatIsRefusedLeavesNoPin) {
  strict_writes = false;
  reopen();
  const auto bytes = large_content();
  Conditions new_only;
  new_only.if_none_match_any = true;
  put("a", "1");
  EXPECT_EQ(code_of([&] { put("a", bytes, new_only); }), Code::precondition_failed);
  EXPECT_EQ(ledger().pinned(), 0u);
  {
    Intake intake(keep->context());
    intake.write(bytes);
  }
  EXPECT_EQ(ledger().pinned(), 0u);
  EXPECT_EQ(blob_files(), 0u);
}

// A catalog beside which something else happens just after its first read.
class DatabaseWithPause final : public catalog::Database {
 public:
  DatabaseWithPause(catalog::Database& database, std::function<void()> pause)
      : database_(database), pause_(std::move(pause)) {}
  size_t queued_writes() const override { return database_.queued_writes(); }
  const Clock& clock() const override { return database_.clock(); }

 protected:
  bool commits_shared_rows_first() const override { return false; }
  void run_write(const catalog::Scope& scope, const std::function<void(catalog::Tx&)>& closure,
                 catalog::Survives survives) override {
    database_.write(scope, closure, survives);
  }
  void run_read(const std::function<void(catalog::Statements&)>& closure) override {
    database_.read(closure);
    if (auto pause = std::exchange(pause_, nullptr)) pause();
  }

 private:
  catalog::Database& database_;
  std::function<void()> pause_;
};

TEST_F(LedgerTest, ContentThatIsNeededAgainSinceTheCollectorLookedStays) {
  for (const auto& bytes : {std::string(100, 'x'), std::string(200'000, 'x'), large_content()}) {
    put("a", bytes);
    purge_file("a");
    auto& context = keep->context();
    DatabaseWithPause database(context.db, [&] { put("b", bytes); });
    KeepContext paused{database,      context.blobs, context.ledger,  context.feed,   context.revocations,
                       context.clock, context.ids,   context.metrics, context.limits, context.directory};
    Upkeep(paused).collect(0);
    EXPECT_TRUE(bytes_at("b") == bytes);
    expect_clean();
    purge_file("b");
    keep->upkeep().collect(0);
    EXPECT_EQ(blob_rows(), 0u);
  }
}

// A store that does something else first: the moment between looking a blob up and opening its file.
class StoreWithPause final : public blobs::Store {
 public:
  StoreWithPause(blobs::Store& store, std::function<void()> pause)
      : store_(store), pause_(std::move(pause)) {}
  std::unique_ptr<blobs::Writer> begin_write(blobs::KnownBlobs& known) override {
    return store_.begin_write(known);
  }
  blobs::OpenBlob open(const std::string& location, const Sha256& hash, uint64_t size) override {
    if (auto pause = std::exchange(pause_, nullptr)) pause();
    return store_.open(location, hash, size);
  }
  bool verify(const std::string& location, const Sha256& hash, uint64_t size) override {
    if (auto pause = std::exchange(pause_, nullptr)) pause();
    return store_.verify(location, hash, size);
  }
  void remove(const std::string& location) override { store_.remove(location); }
  std::optional<uint64_t> room() const override { return store_.room(); }
  void for_each(
      const std::function<bool(const std::string& location, uint64_t size, int64_t age_s)>& visit) override {
    store_.for_each(visit);
  }

 private:
  blobs::Store& store_;
  std::function<void()> pause_;
};

class PausedReads : public LedgerTest {
 protected:
  KeepContext paused_context(std::function<void()> pause) {
    auto& context = keep->context();
    store.emplace(context.blobs, std::move(pause));
    return {context.db,    *store,      context.ledger,  context.feed,   context.revocations,
            context.clock, context.ids, context.metrics, context.limits, context.directory};
  }
  std::optional<StoreWithPause> store;
};

TEST_F(PausedReads, AReaderWhoseContentIsPurgedMeanwhileHearsThatItIsGone) {
  for (const auto& bytes : {large_content(), std::string(200'000, 'x')}) {
    const auto version = *put("a", bytes).version;
    auto context = paused_context([&] {
      purge_file("a");
      keep->upkeep().collect(0);
    });
    ContentReader reader(context, version.sha256, 0, version.size);
    EXPECT_EQ(code_of([&] { reader.read_all(); }), Code::gone);
  }
}

TEST_F(PausedReads, AReaderWhoseContentIsPurgedAndKeptAnewReadsIt) {
  const std::string bytes(200'000, 'x');
  const auto version = *put("a", bytes).version;
  auto context = paused_context([&] {
    purge_file("a");
    keep->upkeep().collect(0);
    put("b", bytes);
  });
  EXPECT_TRUE(ContentReader(context, version.sha256, 0, version.size).read_all() == bytes);
}

TEST_F(PausedReads, AFileThatIsLostIsStillCorrupt) {
  const std::string bytes(200'000, 'x');
  const auto version = *put("a", bytes).version;
  auto context = paused_context([&] {
    for (const auto& file : fs::recursive_directory_iterator(dir.path() + "/blobs"))
      if (file.is_regular_file()) fs::remove(file.path());
  });
  ContentReader reader(context, version.sha256, 0, version.size);
  EXPECT_EQ(code_of([&] { reader.read_all(); }), Code::corrupt);
}

TEST_F(PausedReads, VerifyingBesideACollectionReportsNothing) {
  // Blobs are read in the order of their hashes; of several contents, some have their list after a chunk.
  for (char seed : {'a', 'b', 'c', 'd'}) {
    put("a", large_content(seed));
    put("b", std::string(200'000, seed));
    auto context = paused_context([&] {
      purge_file("a");
      purge_file("b");
      keep->upkeep().collect(0);
    });
    EXPECT_EQ(Upkeep(context).verify().problems, std::vector<std::string>{});
  }
}

class KeepBackground : public KeepTest {
 protected:
  // Puts a FIFO in the place of the file of `path`: whoever opens it waits for pass().
  std::string block(const std::string& path) {
    const auto hash = keep->files().get(ws, path).sha256.hex();
    for (const auto& file : fs::recursive_directory_iterator(dir.path() + "/blobs")) {
      const auto name = file.path().filename().string();
      if (!name.starts_with(hash)) continue;
      fs::remove(file.path());
      EXPECT_EQ(::mkfifo(file.path().c_str(), 0600), 0);
      return file.path();
    }
    ADD_FAILURE() << "no file of " << path;
    return {};
  }
  // Waits until somebody opens the FIFO, and lets them go on.
  bool pass(const std::string& fifo) {
    return until([&] { return bool(Fd(::open(fifo.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC))); });
  }
  template <class Condition>
  static bool until(const Condition& condition) {
    for (int i = 0; i < 4000; ++i) {
      if (condition()) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    return false;
  }
};

TEST_F(KeepBackground, LocksExpireWhileUpkeepIsBusy) {
  keep.reset();
  auto options = test::keep_options(dir.path());
  options.scrub_interval_s = 1;
  keep = std::make_unique<Keep>(options, clock, metrics);
  put("first", std::string(200'000, 'x'));
  put("second", std::string(200'000, 'y'));
  LockWanted wanted;
  wanted.path = "locked";
  wanted.ttl_s = 60;
  keep->locks().acquire(ws, wanted);
  const auto first = block("first"), second = block("second");
  keep->start_background();
  ASSERT_TRUE(pass(first));  // the scrubber is now on its way to the second, where it stays
  clock.advance_us(61 * kSecondUs);
  EXPECT_TRUE(until([&] {
    EventFilter filter;
    filter.kinds = {"lock.expire"};
    return !keep->journal().events(ws, 0, 100, filter).items.empty();
  }));
  EXPECT_TRUE(pass(second));
  keep->stop();
}

}  // namespace
}  // namespace sk::workspace
