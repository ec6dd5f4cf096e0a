// A session's folder in a real keep and its working copy on a real disk, without a sandbox: the test writes
// what code would.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/metrics.h"
#include "interpreter/copy/copy_keeper.h"
#include "support/content_of.h"
#include "support/first_principal.h"
#include "support/keep_options.h"
#include "unit/temp_dir.h"

namespace sk::interpreter {

class CopyTest : public testing::Test {
 protected:
  explicit CopyTest(const workspace::KeepLimits& limits = test::workspace_limits())
      : keep(options(directory.file("data"), limits), clock, metrics) {
    WorkingCopy::clear_aside(context.directory);
    session = make_session();
  }

  SessionInfo make_session() {
    SessionInfo made;
    made.id = keep.context().ids.next();
    made.workspace = ws.workspace_id();
    made.owner = actor.principal();
    made.folder = "s";
    made.name = "test";
    made.timeout_s = 60;
    made.idle_s = 600;
    made.created_us = made.active_us = clock.now_us();
    records.insert(ws, made);
    return made;
  }

  // In the working copy, as code does it.
  std::string on_disk(const std::string& path) const {
    return context.directory + "/" + session.id.hex() + "/" + path;
  }
  void write(const std::string& path, const std::string& content) const {
    std::filesystem::create_directories(std::filesystem::path(on_disk(path)).parent_path());
    std::ofstream(on_disk(path)) << content;
  }
  std::string read(const std::string& path) const {
    std::ostringstream content;
    content << std::ifstream(on_disk(path)).rdbuf();
    return content.str();
  }
  bool is_on_disk(const std::string& path) const { return std::filesystem::exists(on_disk(path)); }

  // In the workspace, as another client does it. Paths are the workspace's.
  void put(const std::string& path, const std::string& content) {
    workspace::PutChange change;
    change.path = path;
    change.content = content_of(keep.context(), content);
    keep.files().apply_one(ws, change);
  }
  void trash(const std::string& path) { keep.files().apply_one(ws, workspace::TrashChange{path, {}}); }
  std::optional<workspace::Entry> find(const std::string& path) { return keep.files().find(ws, path); }
  std::string kept(const std::string& path) {
    auto entry = keep.files().get(ws, path);
    return workspace::ContentReader(keep.context(), entry.sha256, 0, entry.size).read_all();
  }
  size_t versions(const std::string& path) {
    return keep.files().versions(ws, keep.files().get(ws, path).id, "", 100).items.size();
  }
  CaptureAs as() { return capture_as(session, actor); }

  TempDir directory;
  ManualClock clock{1'700'000'000 * kSecondUs};
  Metrics metrics;
  workspace::Keep keep;
  workspace::Actor actor = workspace::first_actor(keep);
  workspace::Authority ws = workspace::first_authority(keep);
  Records records{keep.context()};
  Watcher watcher{{.folders_per_copy_max = 100}};
  const CopyContext context{
      keep,    records,    watcher, make_folder(directory.file("copies")), {::geteuid(), ::getegid()},
      1 << 20, "this boot"};
  SessionInfo session;

 private:
  static workspace::KeepOptions options(const std::string& folder, const workspace::KeepLimits& limits) {
    auto result = test::keep_options(folder);
    result.limits = limits;
    return result;
  }
  static std::string make_folder(std::string path) {
    std::filesystem::create_directories(path);
    return path;
  }
};

}  // namespace sk::interpreter
