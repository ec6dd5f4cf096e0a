// The fault library, tried on a small program; then the local store under it: each operation fails, or the
// process dies at it, and what was acknowledged is there.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>

#include <fstream>
#include <sstream>

#include "blobs/local_store.h"
#include "unit/blobs/support.h"

namespace sk::blobs::test {
namespace {

namespace fs = std::filesystem;
using Environment = std::vector<std::pair<std::string, std::string>>;

// What the build puts beside this program.
std::string built(const std::string& name) { return fs::read_symlink("/proc/self/exe").parent_path() / name; }

struct Ran {
  int status = 0;  // as waitpid says it
  std::vector<std::string> lines;
  long counted = 0;
  std::string hit;  // "OPERATION PATH", empty when nothing was made to fail
};

std::vector<std::string> lines_of(const std::string& path) {
  std::ifstream file(path);
  std::vector<std::string> out;
  for (std::string line; std::getline(file, line);) out.push_back(line);
  return out;
}

// Runs a program under the fault library, its standard output caught.
Ran run(const std::vector<std::string>& arguments, const Environment& faults, const std::string& scratch) {
  const auto output = scratch + "/output", report = scratch + "/report";
  fs::remove(output);
  fs::remove(report);
  std::vector<std::string> environment = {"LD_PRELOAD=" + built("libfault.so"), "FAULT_REPORT=" + report};
  for (const auto& [name, value] : faults) environment.push_back(name + "=" + value);
  std::vector<char*> argv, envp;
  for (const auto& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  for (const auto& variable : environment) envp.push_back(const_cast<char*>(variable.c_str()));
  argv.push_back(nullptr);
  envp.push_back(nullptr);

  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_addopen(&actions, 1, output.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  ::posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
  pid_t child;
  SK_CHECK(::posix_spawn(&child, argv[0], &actions, nullptr, argv.data(), envp.data()) == 0, argv[0]);
  ::posix_spawn_file_actions_destroy(&actions);

  Ran ran;
  while (::waitpid(child, &ran.status, 0) < 0 && errno == EINTR) continue;
  ran.lines = lines_of(output);
  const auto reported = lines_of(report);
  if (!reported.empty()) ran.counted = std::stol(reported[0]);
  if (reported.size() > 1 && reported[1].starts_with("hit ")) ran.hit = reported[1].substr(4);
  return ran;
}

bool has_line(const Ran& ran, const std::string& line) {
  return std::find(ran.lines.begin(), ran.lines.end(), line) != ran.lines.end();
}

std::string number(long value) { return std::to_string(value); }

class FaultLibrary : public testing::Test {
 protected:
  Ran probe(Environment faults) {
    TemporaryFolder folder;
    const auto watched = folder.path() + "/watched";
    fs::create_directory(watched);
    faults.emplace_back("FAULT_DIR", watched);
    return run({built("fault_probe"), watched, folder.path() + "/outside"}, faults, folder.path());
  }
};

// In the order in which the probe does them, with the names that it prints and those of FAULT_OP.
const std::vector<std::pair<std::string, std::string>> kProbed = {
    {"create", "create"},      {"write", "write"},        {"pwrite", "write"}, {"writev", "write"},
    {"ftruncate", "truncate"}, {"fallocate", "allocate"}, {"fsync", "fsync"},  {"fdatasync", "fsync"},
    {"link", "link"},          {"rename", "rename"},      {"mkdir", "mkdir"},  {"openat", "create"},
    {"renameat", "rename"},    {"unlinkat", "unlink"},    {"rmdir", "unlink"}, {"unlink", "unlink"}};

TEST_F(FaultLibrary, CountsOnlyWhatTouchesTheFolder) {
  const auto ran = probe({});
  EXPECT_EQ(ran.counted, static_cast<long>(kProbed.size()));
  EXPECT_EQ(ran.hit, "");
  EXPECT_TRUE(has_line(ran, "outside ok"));
  EXPECT_TRUE(has_line(ran, "child ok"));
  for (const auto& [name, operation] : kProbed) EXPECT_TRUE(has_line(ran, name + " ok")) << name;
}

TEST_F(FaultLibrary, RecordsEveryOperationInItsOrder) {
  TemporaryFolder folder;
  const auto record = folder.path() + "/record";
  probe({{"FAULT_RECORD", record}});
  const std::vector<std::string> names = {"create", "write",     "write",  "write",  "truncate", "allocate",
                                          "fsync",  "fdatasync", "link",   "rename", "mkdir",    "create",
                                          "rename", "unlink",    "unlink", "unlink"};
  std::vector<std::string> recorded;
  long last_end = 0;
  for (const auto& line : lines_of(record)) {
    std::istringstream fields(line);
    long begin = 0, end = 0, thread = 0, result = 0;
    std::string name, path;
    fields >> begin >> end >> thread >> name >> result >> path;
    EXPECT_LT(last_end, begin) << line;
    EXPECT_LT(begin, end) << line;
    EXPECT_GE(result, 0) << line;
    EXPECT_NE(path.find("/watched"), std::string::npos) << line;
    last_end = end;
    recorded.push_back(name);
  }
  EXPECT_EQ(recorded, names);
}

TEST_F(FaultLibrary, ASyncThatIsLeftOutSeemsToWorkAndIsNotRecorded) {
  TemporaryFolder folder;
  const auto record = folder.path() + "/record";
  const auto ran =
      probe({{"FAULT_RECORD", record}, {"FAULT_OP", "fsync"}, {"FAULT_N", "1"}, {"FAULT_SKIP", "1"}});
  EXPECT_TRUE(has_line(ran, "fsync ok"));
  for (const auto& line : lines_of(record)) EXPECT_EQ(line.find("\tfsync\t"), std::string::npos) << line;
}

TEST_F(FaultLibrary, FailsExactlyTheChosenOperation) {
  for (size_t i = 0; i < kProbed.size(); ++i) {
    const auto ran = probe({{"FAULT_N", number(static_cast<long>(i) + 1)}, {"FAULT_ERRNO", "ENOSPC"}});
    EXPECT_TRUE(has_line(ran, kProbed[i].first + " " + number(ENOSPC))) << kProbed[i].first;
    EXPECT_TRUE(ran.hit.starts_with(kProbed[i].second + " ")) << ran.hit;
    EXPECT_TRUE(i == 0 || has_line(ran, kProbed[i - 1].first + " ok")) << kProbed[i].first;
    EXPECT_TRUE(has_line(ran, "end"));
  }
  EXPECT_EQ(probe({{"FAULT_N", "17"}}).hit, "");
}

TEST_F(FaultLibrary, CountsOnlyTheChosenKinds) {
  for (const auto* kind :
       {"create", "write", "truncate", "allocate", "fsync", "link", "rename", "mkdir", "unlink"}) {
    const auto of_kind = [&](const auto& entry) { return entry.second == kind; };
    EXPECT_EQ(probe({{"FAULT_OP", kind}}).counted, std::count_if(kProbed.begin(), kProbed.end(), of_kind))
        << kind;
  }
  EXPECT_EQ(probe({{"FAULT_OP", "mkdir,fsync"}}).counted, 3);
}

TEST_F(FaultLibrary, WhatSticksFailsFromThenOn) {
  const auto ran = probe({{"FAULT_N", "8"}, {"FAULT_STICKY", "1"}, {"FAULT_ERRNO", "5"}});
  EXPECT_TRUE(has_line(ran, "fsync ok"));
  EXPECT_TRUE(has_line(ran, "fdatasync 5"));
  EXPECT_TRUE(has_line(ran, "link 5"));
  EXPECT_TRUE(has_line(ran, "unlink 5"));
}

TEST_F(FaultLibrary, AShortWriteWritesHalf) {
  const auto ran = probe({{"FAULT_N", "2"}, {"FAULT_SHORT", "1"}});
  EXPECT_TRUE(has_line(ran, "write short"));
  EXPECT_TRUE(has_line(ran, "pwrite ok"));
}

TEST_F(FaultLibrary, KillsAtTheChosenOperation) {
  for (const auto& faults : {Environment{{"FAULT_N", "3"}, {"FAULT_KILL", "1"}},
                             Environment{{"FAULT_N", "3"}, {"FAULT_KILL", "1"}, {"FAULT_SHORT", "1"}}}) {
    const auto ran = probe(faults);
    EXPECT_TRUE(WIFSIGNALED(ran.status) && WTERMSIG(ran.status) == SIGKILL);
    EXPECT_TRUE(has_line(ran, "write ok"));
    EXPECT_FALSE(has_line(ran, "pwrite ok"));
    EXPECT_EQ(ran.counted, 3);
    EXPECT_TRUE(ran.hit.starts_with("write ")) << ran.hit;
  }
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)

class StoreUnderFaults : public testing::Test {
 protected:
  // Runs the keeper with each operation going wrong in turn, until there are no more of them, and checks what
  // it left.
  template <class Check>
  void for_every_operation(const Environment& faults, const Check& check,
                           const std::vector<std::string>& mode = {}) {
    long n = 1;
    for (;; ++n) {
      TemporaryFolder folder(TemporaryFolder::Where::memory);  // hundreds of runs, and no power to lose
      const auto directory = folder.path() + "/blobs";
      std::vector<std::string> command = {built("blob_keeper"), directory};
      command.insert(command.end(), mode.begin(), mode.end());
      auto all = faults;
      all.insert(all.end(), {{"FAULT_DIR", directory}, {"FAULT_N", number(n)}});
      const auto ran = run(command, all, folder.path());
      SCOPED_TRACE("operation " + number(n) + ": " + ran.hit);
      check(ran);
      expect_kept(directory, ran);
      if (ran.hit.empty() || HasFailure()) break;
    }
    EXPECT_GT(n, 5);
  }

  // Everything acknowledged is there after a restart; when nothing died, there is nothing else.
  static void expect_kept(const std::string& directory, const Ran& ran) {
    LocalStore store(directory);
    EXPECT_TRUE(fs::is_empty(directory + "/new"));
    auto files = list_files(store);
    std::vector<std::pair<std::string, uint64_t>> pending;
    for (const auto& line : ran.lines) {
      std::istringstream words(line);
      std::string word, location;
      uint64_t size = 0;
      words >> word;
      if (word == "file" && words >> location >> size) pending.emplace_back(location, size);
      if (word == "failed") pending.clear();
      if (word != "kept") continue;
      for (const auto& [kept, bytes] : std::exchange(pending, {})) {
        EXPECT_TRUE(store.verify(kept, *Sha256::from_hex(kept.substr(2, 64)), bytes)) << kept;
        EXPECT_EQ(files.erase(kept), 1u);
      }
    }
    const bool could_clean_up = WIFEXITED(ran.status) && !ran.hit.starts_with("unlink");
    EXPECT_TRUE(!could_clean_up || files.empty()) << files.size() << " files are left";
  }
};

TEST_F(StoreUnderFaults, ADiskThatFillsUpFailsThatWriteOnly) {
  for_every_operation({{"FAULT_OP", "write,create,rename"}, {"FAULT_ERRNO", "ENOSPC"}}, [](const Ran& ran) {
    EXPECT_TRUE(WIFEXITED(ran.status) && WEXITSTATUS(ran.status) == 0);
    EXPECT_EQ(has_line(ran, "failed disk_full"), !ran.hit.empty());
    EXPECT_EQ(std::count(ran.lines.begin(), ran.lines.end(), "kept"), ran.hit.empty() ? 4 : 3);
  });
}

TEST_F(StoreUnderFaults, ADiskThatStaysFullFailsEveryWriteFromThenOn) {
  for_every_operation({{"FAULT_OP", "write,create,rename"}, {"FAULT_ERRNO", "ENOSPC"}, {"FAULT_STICKY", "1"}},
                      [](const Ran& ran) { EXPECT_TRUE(WIFEXITED(ran.status)); });
}

TEST_F(StoreUnderFaults, ShortWritesAreCompleted) {
  for_every_operation({{"FAULT_OP", "write"}, {"FAULT_SHORT", "1"}}, [](const Ran& ran) {
    EXPECT_EQ(std::count(ran.lines.begin(), ran.lines.end(), "kept"), 4);
  });
}

TEST_F(StoreUnderFaults, AFailedSyncEndsTheProcessWithoutAcknowledging) {
  for_every_operation({{"FAULT_OP", "fsync"}, {"FAULT_ERRNO", "EIO"}}, [](const Ran& ran) {
    if (ran.hit.empty()) return;
    EXPECT_TRUE(WIFSIGNALED(ran.status) && WTERMSIG(ran.status) == SIGABRT);
  });
}

TEST_F(StoreUnderFaults, ASyncWithoutRoomFailsThatWriteOnly) {
  for_every_operation({{"FAULT_OP", "fsync"}, {"FAULT_ERRNO", "ENOSPC"}},
                      [](const Ran& ran) { EXPECT_TRUE(WIFEXITED(ran.status)); });
}

TEST_F(StoreUnderFaults, AKillAtAnyOperationLosesNothingAcknowledged) {
  for_every_operation({{"FAULT_OP", "write,fsync,create,rename"}, {"FAULT_KILL", "1"}}, [](const Ran& ran) {
    EXPECT_EQ(WIFSIGNALED(ran.status) && WTERMSIG(ran.status) == SIGKILL, !ran.hit.empty());
  });
}

TEST_F(StoreUnderFaults, AKillInTheMiddleOfAWriteLosesNothingAcknowledged) {
  for_every_operation({{"FAULT_OP", "write"}, {"FAULT_KILL", "1"}, {"FAULT_SHORT", "1"}},
                      [](const Ran& ran) { EXPECT_EQ(WIFSIGNALED(ran.status), !ran.hit.empty()); });
}

TEST_F(StoreUnderFaults, CompressionThatFailsAnywhereLosesNothing) {
  for (const char* error : {"ENOSPC", "EIO"}) {
    for_every_operation({{"FAULT_OP", "write,create,rename,unlink,fsync"}, {"FAULT_ERRNO", error}},
                        [](const Ran& ran) {
                          EXPECT_EQ(has_line(ran, "compressed 2"),
                                    ran.hit.empty() || ran.hit.starts_with("unlink"));
                        },
                        {"compress"});
  }
}

TEST_F(StoreUnderFaults, AKillDuringCompressionLosesNothing) {
  for_every_operation({{"FAULT_OP", "write,create,rename,unlink,fsync"}, {"FAULT_KILL", "1"}},
                      [](const Ran& ran) { EXPECT_EQ(has_line(ran, "compressed 2"), ran.hit.empty()); },
                      {"compress"});
}

#endif

}  // namespace
}  // namespace sk::blobs::test
