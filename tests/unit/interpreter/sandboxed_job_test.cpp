// Errands in real sandboxes: what comes back, and what never does.
#include "interpreter/run/sandboxed_job.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "base/error.h"
#include "unit/interpreter/fixture.h"

namespace sk::interpreter {
namespace {

class SandboxedJobTest : public SandboxTest {
 protected:
  std::optional<std::string> run(std::string code,
                                 std::chrono::milliseconds time_max = std::chrono::seconds(20)) {
    SandboxedJob job;
    job.code = std::move(code);
    job.write_input = [](int fd) { ASSERT_EQ(::write(fd, "input", 5), 5); };
    job.output_bytes_max = 1000;
    job.time_max = time_max;
    auto folder = root->path() + "/job";
    auto output = run_sandboxed_job(*host, folder, job);
    EXPECT_FALSE(std::filesystem::exists(folder)) << "it leaves nothing behind";
    return output;
  }
};

TEST_F(SandboxedJobTest, ReturnsTheOutputOfTheProgram) {
  EXPECT_EQ(run("open('/mnt/data/out', 'w').write(open('/mnt/data/in').read().upper())"), "INPUT");
}

TEST_F(SandboxedJobTest, ReturnsNothingForAProgramThatFailsHangsOrBreaksARule) {
  EXPECT_EQ(run("1 / 0"), std::nullopt);
  EXPECT_EQ(run("pass"), std::nullopt) << "no output";
  EXPECT_EQ(run("open('/mnt/data/out', 'wb').write(b'x' * 1001)"), std::nullopt) << "too much output";
  EXPECT_EQ(run("import os; os.symlink('/etc/passwd', '/mnt/data/out')"), std::nullopt) << "through a link";
  EXPECT_EQ(run("import os; os.mkfifo('/mnt/data/out')"), std::nullopt) << "not a file";
  EXPECT_EQ(run("import os; os._exit(0)"), std::nullopt) << "it is gone";
  EXPECT_EQ(run("while True: pass", std::chrono::milliseconds(500)), std::nullopt) << "too long";
  EXPECT_EQ(run("open('/mnt/data/out', 'w').write('still')"), "still") << "the next one works all the same";
}

}  // namespace
}  // namespace sk::interpreter
