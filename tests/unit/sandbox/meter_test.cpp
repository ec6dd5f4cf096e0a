// What sessions use, with control groups and without. The processes are the test's own.
#include "sandbox/meter.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/hash.h"
#include "unit/sandbox/harness.h"

namespace sk::sandbox {
namespace {

// A child that waits for its end.
class Child {
 public:
  Child() : pid_(::fork()) {
    if (pid_ == 0)
      for (;;) ::pause();
  }
  ~Child() { end(); }
  void end() {
    if (pid_ == 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    pid_ = 0;
  }
  pid_t pid() const { return pid_; }

 private:
  pid_t pid_;
};

TEST(Meter, WithoutControlGroupsItAddsUpProcesses) {
  Child main, init;
  Meter meter({}, nullptr, main.pid(), init.pid());
  auto usage = meter.read();
  EXPECT_EQ(usage.processes, 1u) << "the first process of a session is not its own";
  EXPECT_GT(usage.memory_bytes, 0u);
  main.end();
  EXPECT_EQ(meter.read().processes, 0u);
  init.end();
  auto after = meter.read();
  EXPECT_EQ(after.processes, 0u);
  EXPECT_EQ(after.memory_bytes, 0u);
}

TEST(Meter, CountsTheTimeOfProcesses) {
  // Descendants of this process are counted with it, and so is the time that it used so far.
  Child init;
  Meter meter({}, nullptr, ::getpid(), init.pid());
  auto before_us = meter.read().cpu_us;
  auto spent = [&] { return meter.read().cpu_us - before_us; };
  std::string work = "work";
  while (spent() < 50'000)
    for (int i = 0; i < 10'000; ++i) work = sha256(work).hex();
  EXPECT_GE(spent(), 50'000u);
}

TEST(Meter, OfASessionSeesItsMemoryProcessesAndTime) {
  testing::TestSession session;
  auto meter = session.session().meter();
  auto before = meter->read();
  EXPECT_GT(before.memory_bytes, 0u);
  EXPECT_GT(before.processes, 0u);
  auto cell = session.run(
      "held = bytearray(b'x') * (64 << 20)\n"
      "import subprocess, time\n"
      "child = subprocess.Popen(['sleep', '1000'])\n"
      "until = time.process_time() + 0.2\n"
      "while time.process_time() < until: pass");
  ASSERT_TRUE(cell.ok()) << cell.errors;
  auto after = meter->read();
  EXPECT_GE(after.memory_bytes, before.memory_bytes + (48u << 20));
  EXPECT_GT(after.processes, before.processes);
  EXPECT_GE(after.cpu_us, before.cpu_us + 100'000);
}

}  // namespace
}  // namespace sk::sandbox
