// The catalog under the fault library: the process dies at an operation, or the operation fails. Every
// transaction that was acknowledged is there when the catalog is opened again, and each one is there whole.
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>

#include <fstream>
#include <random>
#include <set>

#include "fault/catalog_rows.h"
#include "unit/catalog/support.h"

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)

namespace sk::catalog::test {
namespace {

namespace fs = std::filesystem;
using Settings = std::vector<std::pair<std::string, std::string>>;

constexpr int kTransactions = 16;

std::vector<std::string> lines_in(const std::string& path) {
  std::ifstream file(path);
  std::vector<std::string> out;
  for (std::string line; std::getline(file, line);) out.push_back(line);
  return out;
}

class CatalogUnderFaults : public testing::Test {
 protected:
  struct Ran {
    int status = 0;  // as waitpid says it
    bool has_begun = false;
    std::set<int> kept, failed;
    long counted = 0;
    std::string hit;  // the operation and its path; empty when nothing was made to fail
  };

  // Runs the keeper in `dir`, under the fault library.
  static Ran run_keeper(const TempDir& dir, const Settings& settings) {
    const std::string beside = fs::read_symlink("/proc/self/exe").parent_path();
    const std::string output = dir.file("output"), report = dir.file("report"), data = dir.file("data");
    fs::create_directory(data);
    const std::string count = std::to_string(kTransactions), program = beside + "/catalog_keeper";
    const char* argv[] = {program.c_str(), data.c_str(), count.c_str(), nullptr};
    std::vector<std::string> environment = {"LD_PRELOAD=" + beside + "/libfault.so", "FAULT_REPORT=" + report,
                                            "FAULT_DIR=" + data};
    for (const auto& [name, value] : settings) environment.push_back(name + "=" + value);
    std::vector<char*> envp;
    for (auto& variable : environment) envp.push_back(variable.data());
    envp.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_addopen(&actions, 1, output.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    ::posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
    pid_t child;
    SK_CHECK(::posix_spawn(&child, argv[0], &actions, nullptr, const_cast<char**>(argv), envp.data()) == 0);
    ::posix_spawn_file_actions_destroy(&actions);
    Ran ran;
    while (::waitpid(child, &ran.status, 0) < 0 && errno == EINTR) continue;
    for (const std::string& line : lines_in(output)) {
      if (line == "begun") ran.has_begun = true;
      if (line.starts_with("kept ")) ran.kept.insert(std::stoi(line.substr(5)));
      if (line.starts_with("failed ")) ran.failed.insert(std::stoi(line.substr(7)));
    }
    const auto reported = lines_in(report);
    if (!reported.empty()) ran.counted = std::stol(reported[0]);
    if (reported.size() > 1) ran.hit = reported[1];
    return ran;
  }

  // Lets the operations go wrong one after the other, each in a new folder. How many there are depends on the
  // background thread, so that the last ones may not be reached. A short run takes some 30 of
  // them, from a random one on.
  template <class Check>
  void for_operations(const Settings& settings, const Check& check) {
    const long count = run_keeper(TempDir(TempDir::Where::memory), settings).counted;
    const bool is_long = std::getenv("SK_LONG") != nullptr;
    const long step = is_long ? 1 : std::max<long>(1, count / 12);
    const long first = 1 + static_cast<long>(std::random_device{}() % static_cast<unsigned long>(step));
    std::printf("%ld operations, from %ld on every %ld\n", count, first, step);
    EXPECT_GT(count, 30);
    for (long n = first; n <= count && !HasFailure(); n += step) {
      TempDir dir(TempDir::Where::memory);  // no power is lost, so that the disk plays no part
      auto all = settings;
      all.emplace_back("FAULT_N", std::to_string(n));
      const Ran ran = run_keeper(dir, all);
      SCOPED_TRACE("operation " + std::to_string(n) + ": " + ran.hit);
      check(ran);
      expect_kept(dir.file("data"), ran);
    }
  }

  // A transaction that has no answer may be there or not, but not a part of it.
  static void expect_kept(const std::string& data, const Ran& ran) {
    auto db = open_sqlite(data + "/catalog.db");
    EXPECT_EQ(integrity_of(*db), "ok");
    std::map<int, std::set<std::string>> found;
    db->read([&](Statements& s) {
      s.query("SELECT made_us, mime, bytes FROM thumbnails", {}, [&](const Row& row) {
        const int transaction = static_cast<int>(row.integer(0));
        const std::string name = row.str(1);
        EXPECT_EQ(row.str(2), row_bytes(transaction, std::stoi(name.substr(name.find('/') + 1))));
        found[transaction].insert(name);
        return true;
      });
    });
    const int last = ran.kept.empty() ? -1 : *ran.kept.rbegin();
    for (int transaction : ran.kept) {
      const bool is_deleted = ran.kept.contains(transaction + 3);
      // The transaction that would delete it may be there without having been acknowledged.
      if (!is_deleted && transaction + 3 > last && found.contains(transaction + 3)) continue;
      EXPECT_EQ(found.contains(transaction), !is_deleted) << transaction;
    }
    for (int transaction : ran.failed) EXPECT_FALSE(found.contains(transaction)) << transaction;
    for (const auto& [transaction, names] : found)
      EXPECT_EQ(static_cast<int>(names.size()), rows_of(transaction)) << transaction;
    db->write(Scope::shared(), [](Tx& tx) { run_transaction(tx, 1'000); });
  }
};

TEST_F(CatalogUnderFaults, WithoutFaultsEverythingIsKept) {
  TempDir dir(TempDir::Where::memory);
  const Ran ran = run_keeper(dir, {});
  EXPECT_TRUE(WIFEXITED(ran.status) && WEXITSTATUS(ran.status) == 0);
  EXPECT_EQ(ran.kept.size(), static_cast<size_t>(kTransactions));
  expect_kept(dir.file("data"), ran);
}

TEST_F(CatalogUnderFaults, AKillAtAnyOperationLosesNothingAcknowledged) {
  for_operations({{"FAULT_KILL", "1"}},
                 [](const Ran& ran) { EXPECT_EQ(WIFSIGNALED(ran.status), !ran.hit.empty()); });
}

TEST_F(CatalogUnderFaults, AKillInTheMiddleOfAWriteLosesNothingAcknowledged) {
  for_operations({{"FAULT_OP", "write"}, {"FAULT_KILL", "1"}, {"FAULT_SHORT", "1"}},
                 [](const Ran& ran) { EXPECT_EQ(WIFSIGNALED(ran.status), !ran.hit.empty()); });
}

TEST_F(CatalogUnderFaults, AWriteWithoutRoomFailsAtMostItsTransaction) {
  for_operations({{"FAULT_OP", "write"}, {"FAULT_ERRNO", "ENOSPC"}}, [](const Ran& ran) {
    EXPECT_TRUE(WIFEXITED(ran.status));
    EXPECT_GE(ran.kept.size(), ran.has_begun ? static_cast<size_t>(kTransactions) - 1 : 0);
  });
}

TEST_F(CatalogUnderFaults, ADiskThatStaysFullLosesNothingAcknowledged) {
  for_operations({{"FAULT_OP", "write"}, {"FAULT_ERRNO", "ENOSPC"}, {"FAULT_STICKY", "1"}},
                 [](const Ran& ran) { EXPECT_TRUE(WIFEXITED(ran.status)); });
}

TEST_F(CatalogUnderFaults, AWriteThatFailsLosesNothingAcknowledged) {
  for_operations({{"FAULT_OP", "write"}, {"FAULT_ERRNO", "EIO"}},
                 [](const Ran& ran) { EXPECT_TRUE(WIFEXITED(ran.status)); });
}

TEST_F(CatalogUnderFaults, AFailedSyncEndsTheProcessWithoutAcknowledging) {
  for_operations({{"FAULT_OP", "fsync"}, {"FAULT_ERRNO", "EIO"}}, [](const Ran& ran) {
    const bool has_kept_all = ran.kept.size() == static_cast<size_t>(kTransactions);
    EXPECT_TRUE(!ran.has_begun || has_kept_all || WIFSIGNALED(ran.status));
  });
}

}  // namespace
}  // namespace sk::catalog::test

#endif
