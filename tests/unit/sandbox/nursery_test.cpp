// How sessions come to be: the pool, the zygote's renewal, and starts from many threads.
#include "unit/sandbox/harness.h"

namespace sk::sandbox {
namespace {

using namespace testing;

class OwnHost {
 public:
  explicit OwnHost(SandboxHost::Options options) : host(with_root(std::move(options)), metrics) {}
  uint64_t zygotes() { return metrics.counter("sandkeep_sandbox_zygotes_started_total", "").value(); }
  uint64_t cold() { return metrics.counter("sandkeep_sandbox_cold_starts_total", "").value(); }

 private:
  static SandboxHost::Options with_root(SandboxHost::Options options) {
    options.data_root = parent_of_folders();
    options.approximate = ApproximateLimitsAllowed::by_operator();
    return options;
  }

 public:
  Metrics metrics;
  SandboxHost host;
};

std::string hash_of(TestSession& session) { return session.run("hash('some text')").result(); }

TEST(Nursery, RenewsTheZygoteAfterSomeForksAndSessionsOfTheOldOneGoOn) {
  OwnHost own({.pool_size = 0, .zygote_forks_max = 2});
  TestSession first(SessionLimits{}, own.host);
  std::string seed = hash_of(first);
  TestSession second(SessionLimits{}, own.host);
  for (int i = 0; i < 600 && own.zygotes() < 2; ++i) ::usleep(100'000);
  ASSERT_GE(own.zygotes(), 2u);
  bool differs = false;
  for (int i = 0; i < 600 && !differs; ++i) {
    TestSession later(SessionLimits{}, own.host);
    differs = hash_of(later) != seed;
    if (!differs) ::usleep(100'000);
  }
  EXPECT_TRUE(differs) << "another zygote has another hash seed";
  EXPECT_EQ(hash_of(first), seed);
  Cell cell = first.run("import os; os._exit(5)");
  EXPECT_EQ(cell.ended->exit_code, 5) << "the retired zygote still tells how they ended";
}

TEST(Nursery, StartsColdWhenThePoolIsEmpty) {
  OwnHost own({.pool_size = 0});
  TestSession session(SessionLimits{}, own.host);
  EXPECT_EQ(session.run("1 + 1").result(), "2");
  EXPECT_EQ(own.cold(), 1u);
}

TEST(Nursery, ServesManyThreadsAtOnce) {
  std::vector<std::thread> threads;
  std::atomic<int> good = 0;
  for (int t = 0; t < 6; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 3; ++i) {
        TestSession session;
        if (session.run("6 * 7").result() == "42") ++good;
      }
    });
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(good, 18);
}

TEST(Nursery, OffersSeveralRuntimesSideBySide) {
  OwnHost own({.runtimes = {Runtime{}, Runtime{.name = "second"}}, .pool_size = 0});
  TestSession first(SessionLimits{}, own.host);
  SessionSpec spec;
  spec.runtime = "second";
  TestSession second(spec, own.host);
  EXPECT_NE(hash_of(first), hash_of(second)) << "two zygotes";
}

TEST(Nursery, ShowsFurtherFoldersOfTheHostUnderTheirOwnPath) {
  OwnHost own({.extra_dirs = {"/var/lib/dpkg/info"}, .pool_size = 0});
  TestSession session(SessionLimits{}, own.host);
  EXPECT_EQ(session.run("import os; len(os.listdir('/var/lib/dpkg/info')) > 0, os.listdir('/var/lib/dpkg')")
                .result(),
            "(True, ['info'])");
}

}  // namespace
}  // namespace sk::sandbox
