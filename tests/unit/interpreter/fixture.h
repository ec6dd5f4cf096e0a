// Sessions end to end below HTTP: real sandboxes, a real keep.
#pragma once

#include <gtest/gtest.h>

#include <condition_variable>
#include <set>

#include "base/error.h"
#include "interpreter/sandboxed_interpreter.h"
#include "support/content_of.h"
#include "support/first_principal.h"
#include "support/interpreter_options.h"
#include "support/keep_options.h"
#include "unit/temp_dir.h"

namespace sk::interpreter {

// One sandbox host for all tests of a suite: starting it takes longer than most of them.
class SandboxTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    metrics = new Metrics;
    root = new TempDir;
    std::filesystem::permissions(root->path(), std::filesystem::perms(0711));
    host = new sandbox::SandboxHost(test::host_options(root->path()), *metrics);
    ASSERT_TRUE(host->wait_ready(120'000));
  }
  static void TearDownTestSuite() {
    delete host;
    delete root;
    delete metrics;
  }

  static inline Metrics* metrics = nullptr;
  static inline TempDir* root = nullptr;
  static inline sandbox::SandboxHost* host = nullptr;
};

class InterpreterTest : public SandboxTest {
 protected:
  InterpreterTest() { open(); }
  std::unique_ptr<workspace::Keep> open_keep() {
    return std::make_unique<workspace::Keep>(test::keep_options(folder), clock, *metrics);
  }
  void open() {
    if (!keep) keep = open_keep();
    actor = workspace::first_actor(*keep);
    ws = workspace::first_authority(*keep);
    auto wanted = test::interpreter_options(folder + "/copies");
    wanted.boot_id = "the-same-boot";
    interpreter = std::make_unique<SandboxedInterpreter>(*keep, *host, wanted, *metrics);
    interpreter->recover();
  }
  void reopen() {
    interpreter.reset();
    keep.reset();
    open();
  }
  SessionInfo create(std::optional<std::string> where = {}) {
    NewSession wanted;
    wanted.name = "test";
    wanted.folder = where;
    return interpreter->create(ws, wanted);
  }
  Execution wait(const RunningExecution& running) {
    std::mutex mutex;
    std::condition_variable done;
    std::optional<Execution> result;
    running.feed->on_finish([&](const Execution& execution) {
      std::lock_guard lock(mutex);
      result = execution;
      done.notify_all();
    });
    std::unique_lock lock(mutex);
    done.wait(lock, [&] { return result.has_value(); });
    return *result;
  }
  Execution run(const Id& session, std::string code, std::string language = "python",
                std::optional<int64_t> timeout_s = {}) {
    NewExecution wanted;
    wanted.code = std::move(code);
    wanted.language = std::move(language);
    wanted.timeout_s = timeout_s;
    return wait(interpreter->execute(ws, session, wanted).get());
  }
  std::string read(const std::string& path) {
    auto entry = keep->files().get(ws, path);
    return workspace::ContentReader(keep->context(), entry.sha256, 0, entry.size).read_all();
  }
  void put(const std::string& path, const std::string& content) {
    workspace::PutChange change;
    change.path = path;
    change.content = content_of(keep->context(), content);
    keep->files().apply_one(keep->workspaces().open_default(actor, workspace::Right::write), change);
  }
  void trash(const std::string& path) {
    keep->files().apply_one(keep->workspaces().open_default(actor, workspace::Right::write),
                            workspace::TrashChange{path, {}});
  }
  bool exists(const std::string& path) { return keep->files().find(ws, path).has_value(); }
  void set_quota(uint64_t bytes) {
    keep->workspaces().change(keep->workspaces().open_default(actor, workspace::Right::write), {}, bytes);
  }
  static Json shown(const Execution& execution) { return to_json(execution.outputs); }
  static std::set<std::string> kept_names(const Execution& execution, const std::string& below) {
    std::set<std::string> names;
    for (const auto& file : execution.files.kept) names.insert(file.path.substr(below.size() + 1));
    return names;
  }

  static inline int count = 0;
  const std::string folder = root->path() + "/" + std::to_string(++count);
  SystemClock clock;
  std::unique_ptr<workspace::Keep> keep = open_keep();
  std::unique_ptr<Interpreter> interpreter;
  workspace::Actor actor = workspace::first_actor(*keep);
  workspace::Authority ws = workspace::first_authority(*keep);
};

}  // namespace sk::interpreter
