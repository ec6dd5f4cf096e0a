// A keep in a temporary folder with a clock that tests turn.
#pragma once

#include <gtest/gtest.h>

#include "base/error.h"
#include "support/content_of.h"
#include "support/first_principal.h"
#include "support/keep_options.h"
#include "unit/temp_dir.h"
#include "workspace/keep.h"

namespace sk::workspace {

class KeepTest : public testing::Test {
 protected:
  std::unique_ptr<Keep> open() {
    auto options = test::keep_options(dir.path());
    options.limits = limits;
    options.strict_writes = strict_writes;
    return std::make_unique<Keep>(options, clock, metrics);
  }
  void reopen() {
    keep.reset();
    keep = open();
    actor = first_actor(*keep);
    ws = first_authority(*keep);
  }

  Content content(std::string_view bytes) { return content_of(keep->context(), bytes); }
  PutChange put_change(std::string path, std::string_view bytes) {
    PutChange change;
    change.path = std::move(path);
    change.content = content(bytes);
    return change;
  }
  ChangeResult put(std::string path, std::string_view bytes, Conditions conditions = {}) {
    clock.advance_us(kSecondUs);
    PutChange change = put_change(std::move(path), bytes);
    change.conditions = std::move(conditions);
    return keep->files().apply_one(ws, std::move(change));
  }
  ChangeResult apply(Change change) {
    clock.advance_us(kSecondUs);
    return keep->files().apply_one(ws, std::move(change));
  }
  std::string bytes_of(const Version& version) {
    return ContentReader(keep->context(), version.sha256, 0, version.size).read_all();
  }
  std::string bytes_at(std::string_view path) {
    auto entry = keep->files().get(ws, path);
    return ContentReader(keep->context(), entry.sha256, 0, entry.size).read_all();
  }
  std::vector<std::string> paths(bool recursive = true) {
    ListOptions options;
    options.recursive = recursive;
    std::vector<std::string> result;
    for (const auto& entry : keep->files().list(ws, options).items)
      result.push_back(entry.path + (entry.kind == EntryKind::folder ? "/" : ""));
    return result;
  }
  Code code_of(const std::function<void()>& action) {
    try {
      action();
    } catch (const Error& error) {
      last_error = error;
      return error.code();
    }
    ADD_FAILURE() << "nothing was thrown";
    return Code::internal;
  }
  void expect_clean() {
    auto result = keep->upkeep().verify();
    EXPECT_EQ(result.problems, std::vector<std::string>{});
  }

  TempDir dir;
  ManualClock clock{1'800'000'000'000'000};
  Metrics metrics;
  KeepLimits limits = test::workspace_limits();
  bool strict_writes = true;
  std::unique_ptr<Keep> keep = open();
  Actor actor = first_actor(*keep);
  Authority ws = first_authority(*keep);
  std::optional<Error> last_error;
};

}  // namespace sk::workspace
