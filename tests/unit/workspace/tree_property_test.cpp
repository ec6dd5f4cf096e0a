// Random sequences of everything that changes a tree. After each step: what `verify` checks, that nothing is
// out of reach, that quota and counts are true, and that going back in time gives what was there.
#include <unistd.h>
#include "support/property.h"

#include <cstdlib>
#include <set>

#include "base/path.h"
#include "keep_fixture.h"

namespace sk::workspace {
namespace {

const std::vector<std::string> kPaths = {"a",   "b",   "c",     "a/a",   "a/b",     "a/b/c",   "b/a",
                                         "b/b", "c/a", "a/b/a", "b/a/c", "a/b/c/a", "b/a/c/b", "c/a/b"};

enum class Does {
  put,
  mkdir,
  // To something that is there:
  move,
  copy,
  trash,
  set,
  restore_version,
  purge_version,
  // To something that was there:
  purge,
  untrash,
  go_back,
  folder_goes_back,
};
const std::vector<Does> kOften = {Does::put,
                                  Does::put,
                                  Does::put,
                                  Does::put,
                                  Does::put,
                                  Does::mkdir,
                                  Does::move,
                                  Does::move,
                                  Does::move,
                                  Does::move,
                                  Does::copy,
                                  Does::trash,
                                  Does::trash,
                                  Does::trash,
                                  Does::set,
                                  Does::set,
                                  Does::purge,
                                  Does::untrash,
                                  Does::untrash,
                                  Does::restore_version,
                                  Does::go_back,
                                  Does::purge_version,
                                  Does::folder_goes_back,
                                  Does::folder_goes_back,
                                  Does::folder_goes_back,
                                  Does::folder_goes_back};

// What one step does, from one number, so that a failing sequence shrinks.
class Choice {
 public:
  explicit Choice(uint64_t bits) : bits_(bits) {}
  size_t of(size_t count) {
    size_t result = bits_ % count;
    bits_ /= count;
    return result;
  }
  std::string path() { return kPaths[of(kPaths.size())]; }
  OnExisting on_existing() {
    return std::array{OnExisting::refuse, OnExisting::replace, OnExisting::rename}[of(3)];
  }
  std::optional<uint32_t> mode() { return std::array<std::optional<uint32_t>, 3>{{{}, 0600, 0755}}[of(3)]; }

 private:
  uint64_t bits_;
};

using Tree = std::map<std::string, Entry>;

struct Moment {
  TimeUs time_us;
  Tree tree;
};

bool same(const Entry& a, const Entry& b) {
  return a.id == b.id && a.path == b.path && a.kind == b.kind && a.head == b.head && a.mode == b.mode &&
         a.mtime_us == b.mtime_us && a.sha256 == b.sha256 && a.mime == b.mime &&
         a.version_count == b.version_count;
}

bool same_tree(const Tree& a, const Tree& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const auto& x, const auto& y) { return same(x.second, y.second); });
}

class World : public KeepTest {
 public:
  void step(uint64_t bits) {
    Choice choice(bits);
    clock.advance_us(kSecondUs);
    Tree before = tree();
    auto rows_before = rows();
    int64_t seq = keep->journal().head_seq(ws);
    Does what = kOften[choice.of(kOften.size())];
    bool purges = what == Does::purge_version || what == Does::purge;
    try {
      act(what, choice);
    } catch (const Error& error) {
      RC_LOG("refused: " + error.message() + "\n");
      RC_ASSERT(error.code() != Code::internal);
      RC_ASSERT(same_tree(tree(), before));
    }
    check();
    check_journal(seq, before);
    if (!purges) RC_ASSERT(std::ranges::includes(rows(), rows_before));
    clock.advance_us(kSecondUs);
    moments_.push_back({clock.now_us(), tree()});
  }

  // In the end everything that is in the trash comes back, or goes.
  void finish(bool restore) {
    if (!restore) {
      keep->files().empty_trash(ws);
      check();
      RC_ASSERT(entries().size() == tree().size());
      return;
    }
    auto all = entries();
    size_t made = 0;
    for (const Entry& root : trash()) {
      clock.advance_us(kSecondUs);
      keep->files().restore(ws, root.id, OnExisting::refuse, "restored-" + std::to_string(made++));
      check();
    }
    RC_ASSERT(trash().empty());
    RC_ASSERT(tree().size() == all.size());
  }

 private:
  void TestBody() override {}

  Tree tree() {
    Tree result;
    ListOptions options;
    options.recursive = true;
    for (const auto& entry : keep->files().list(ws, options).items) result[entry.path] = entry;
    return result;
  }
  std::vector<Entry> trash() { return keep->files().trash(ws, "", 1000).items; }
  std::set<Id> entries() { return ids_of("SELECT id FROM entries WHERE workspace = $1"); }
  std::set<Id> rows() {
    return ids_of(
        "SELECT id FROM entries WHERE workspace = $1 UNION ALL SELECT id FROM versions WHERE workspace = $1");
  }
  std::set<Id> ids_of(catalog::Sql sql) {
    return keep->context().db.read([&](catalog::Statements& statements) {
      auto all = statements.all(sql, {ws.workspace_id()}, [](const catalog::Row& row) { return row.id(0); });
      return std::set<Id>(all.begin(), all.end());
    });
  }

  void act(Does what, Choice& choice) {
    auto& files = keep->files();
    auto run = [&](Change change) { files.apply_one(ws, std::move(change)); };
    std::string path = choice.path();
    // What acts on something mostly finds something.
    Tree live = tree();
    if (what > Does::mkdir && what < Does::purge && !live.empty() && choice.of(8) != 0)
      path = std::next(live.begin(), static_cast<ptrdiff_t>(choice.of(live.size())))->first;
    RC_LOG("step " + std::to_string(static_cast<int>(what)) + " " + path + "\n");
    switch (what) {
      case Does::put: {
        PutChange change = put_change(path, std::string(choice.of(4) + 1, 'x'));
        change.mode = choice.mode();
        if (choice.of(2) == 0) change.mtime_us = static_cast<TimeUs>(1 + choice.of(3)) * kSecondUs;
        if (choice.of(4) == 0) change.mime = choice.of(2) == 0 ? "text/x-one" : "text/x-two";
        return run(std::move(change));
      }
      case Does::mkdir:
        return run(MkdirChange{path, choice.mode(), {}, true});
      case Does::move:
        return run(MoveChange{path, choice.path(), choice.on_existing(), {}});
      case Does::copy:
        return run(CopyChange{path, {}, choice.path(), choice.on_existing(), {}, {}});
      case Does::trash:
        return run(TrashChange{path, {}});
      case Does::set:
        return run(SetModeChange{path, choice.mode(), {}, {}});
      case Does::restore_version:
        return restore_version(path, choice);
      case Does::purge_version:
        return purge_version(path, choice);
      case Does::purge:
        if (auto root = some_root(choice)) files.purge(ws, *root);
        return;
      case Does::untrash:
        if (auto root = some_root(choice)) {
          auto how = choice.on_existing();
          files.restore(ws, *root, how, choice.of(2) == 0 ? std::optional(path) : std::nullopt);
        }
        return;
      case Does::go_back:
        return go_back("", choice);
      case Does::folder_goes_back:
        return go_back(path, choice);
    }
  }

  std::optional<Id> some_root(Choice& choice) {
    auto roots = trash();
    return roots.empty() ? std::nullopt : std::optional(roots[choice.of(roots.size())].id);
  }
  void restore_version(const std::string& path, Choice& choice) {
    auto versions = keep->files().versions(ws, keep->files().get(ws, path).id, "", 100).items;
    if (versions.empty()) return;
    keep->files().apply_one(ws, RestoreVersionChange{versions[choice.of(versions.size())].id, {}});
  }
  void purge_version(const std::string& path, Choice& choice) {
    auto versions = keep->files().versions(ws, keep->files().get(ws, path).id, "", 100).items;
    if (!versions.empty()) keep->files().purge_version(ws, versions[choice.of(versions.size())].id);
  }

  void go_back(std::string folder, Choice& choice) {
    if (moments_.empty()) return;
    // Mostly a short while ago, so that little is undone and much can go wrong again.
    size_t ago = choice.of(4) == 0 ? moments_.size() : std::min<size_t>(moments_.size(), 8);
    const Moment& moment = moments_[moments_.size() - 1 - choice.of(ago)];
    Tree before = tree();
    auto kept = rows();
    Tree wanted;
    if (!folder.empty() && !moment.tree.empty() && choice.of(8) != 0)
      folder = std::next(moment.tree.begin(), static_cast<ptrdiff_t>(choice.of(moment.tree.size())))->first;
    for (const auto& [path, entry] : moment.tree)
      if (is_within(path, folder) && kept.contains(entry.id)) wanted[path] = entry;
    RC_LOG("  '" + folder + "' to moment " + std::to_string(&moment - moments_.data()) + "\n");
    auto& files = keep->files();
    if (wanted.empty() && !folder.empty()) {
      RC_ASSERT(code_of([&] { files.restore_as_of(ws, folder, moment.time_us, false); }) == Code::not_found);
      return;
    }
    auto plan = files.restore_as_of(ws, folder, moment.time_us, true);
    RC_ASSERT(same_tree(tree(), before));
    auto done = files.restore_as_of(ws, folder, moment.time_us, false);
    RC_ASSERT(std::tuple(plan.restored, plan.trashed, plan.unchanged) ==
              std::tuple(done.restored, done.trashed, done.unchanged));
    check_inside(folder, wanted, kept);
    check_outside(folder, wanted, before);
    clock.advance_us(kSecondUs);
    auto again = files.restore_as_of(ws, folder, moment.time_us, false);
    RC_ASSERT(again.restored == 0);
    RC_ASSERT(again.trashed == 0);
  }

  // Exactly what was there, but for what was purged since: its folders are there, as is its present content.
  void check_inside(const std::string& folder, const Tree& wanted, const std::set<Id>& kept) {
    std::set<std::string> expected, there;
    for (const auto& [path, entry] : wanted)
      for (std::string at = path; !at.empty() && is_within(at, folder); at = split_path(at).first)
        expected.insert(at);
    Tree now = tree();
    for (const auto& [path, entry] : now)
      if (is_within(path, folder)) there.insert(path);
    RC_ASSERT(there == expected);
    for (const auto& [path, entry] : wanted) {
      const Entry& is = now.at(path);
      RC_ASSERT(is.id == entry.id);
      RC_ASSERT(is.kind == entry.kind);
      if (is.kind == EntryKind::file && !kept.contains(entry.head)) continue;
      RC_ASSERT(is.sha256 == entry.sha256);
      RC_ASSERT(is.mime == entry.mime);
      RC_ASSERT(is.mode == entry.mode);
      RC_ASSERT(is.mtime_us == entry.mtime_us);
    }
  }
  // Nothing else moved or changed; only folders may have been made.
  void check_outside(const std::string& folder, const Tree& wanted, const Tree& before) {
    std::set<Id> back;
    for (const auto& [path, entry] : wanted) back.insert(entry.id);
    Tree now = tree();
    for (const auto& [path, entry] : before)
      if (!is_within(path, folder) && !back.contains(entry.id)) RC_ASSERT(same(now[path], entry));
    for (const auto& [path, entry] : now)
      if (!is_within(path, folder) && entry.kind == EntryKind::file) RC_ASSERT(before.contains(path));
  }

  void check() {
    auto verified = keep->upkeep().verify();
    RC_ASSERT(verified.problems == std::vector<std::string>{});
    Tree live = tree();
    std::set<Id> roots;
    for (const Entry& root : trash()) roots.insert(root.id);
    size_t trashed = 0;
    std::map<Sha256, uint64_t> blobs;
    keep->context().db.read([&](catalog::Statements& statements) {
      statements.query("SELECT trash_root FROM entries WHERE trashed_us IS NOT NULL", {},
                       [&](const catalog::Row& row) { return trashed += roots.count(row.id(0)), true; });
      statements.query("SELECT sha256, size FROM versions", {}, [&](const catalog::Row& row) {
        return blobs[row.hash(0)] = static_cast<uint64_t>(row.integer(1)), true;
      });
    });
    RC_ASSERT(live.size() + trashed == static_cast<size_t>(verified.entries));
    uint64_t bytes = 0;
    for (const auto& [hash, size] : blobs) bytes += size;
    RC_ASSERT(keep->workspaces().open(actor, "default").workspace().used_bytes == bytes);
    for (const auto& [path, entry] : live)
      if (entry.kind == EntryKind::file)
        RC_ASSERT(keep->files().versions(ws, entry.id, "", 1000).items.size() ==
                  static_cast<size_t>(entry.version_count));
    for (const std::string& path : kPaths)
      if (!live.contains(path)) check_hint(path, roots);
  }
  // Who follows the journal and looks again at every path that it names, and below, misses nothing.
  void check_journal(int64_t after, const Tree& before) {
    std::set<std::string> named;
    for (const auto& event : keep->journal().events(ws, after, 100'000, {}).items)
      for (const char* name : {"path", "from", "to"})
        if (event.kind != "folder.restore_as_of" && event.personal.contains(name))
          named.insert(event.personal[name].get<std::string>());
    auto is_named = [&](const std::string& path) {
      for (std::string at = path; !at.empty(); at = split_path(at).first)
        if (named.contains(at)) return true;
      return false;
    };
    Tree now = tree();
    for (const auto& [path, entry] : before)
      if (auto is = now.find(path); is == now.end() || !same(is->second, entry)) RC_ASSERT(is_named(path));
    for (const auto& [path, entry] : now)
      if (!before.contains(path)) RC_ASSERT(is_named(path));
  }
  void check_hint(const std::string& path, const std::set<Id>& roots) {
    code_of([&] { keep->files().get(ws, path); });
    for (const auto& [name, value] : last_error->facts()) {
      if (name != "trashed_file_id") continue;
      auto hex = std::get<std::string>(value).substr(prefix::file.size());
      RC_ASSERT(roots.contains(*Id::from_hex(hex)));
    }
  }

  std::vector<Moment> moments_;
};

// This is not about what a disk keeps: in memory, where there is a folder for that, a sequence costs a tenth.
class InMemory {
 public:
  InMemory() {
    if (const char* set = std::getenv("TMPDIR")) before_ = set;
    if (::access("/dev/shm", W_OK) == 0) ::setenv("TMPDIR", "/dev/shm", 1);
  }
  ~InMemory() {
    if (before_)
      ::setenv("TMPDIR", before_->c_str(), 1);
    else
      ::unsetenv("TMPDIR");
  }
  InMemory(const InMemory&) = delete;
  InMemory& operator=(const InMemory&) = delete;

 private:
  std::optional<std::string> before_;
};

TEST(TreeProperty, NothingIsLostOrOutOfReachWhateverIsDoneAndEveryMomentComesBack) {
  InMemory in_memory;
  EXPECT_TRUE(test::check_property("a tree through random changes", [] {
    auto bits = rc::gen::resize(rc::kNominalSize, rc::gen::arbitrary<uint64_t>());
    auto script = *rc::gen::resize(60, rc::gen::container<std::vector<uint64_t>>(bits));
    bool restore = *rc::gen::arbitrary<bool>();
    World world;
    for (uint64_t one : script) world.step(one);
    world.finish(restore);
  }));
}

}  // namespace
}  // namespace sk::workspace
