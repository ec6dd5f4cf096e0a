// An authority that is limited to a folder: each call of the domain acts inside it and nowhere else.
#include "keep_fixture.h"

namespace sk::workspace {
namespace {

// The folder `shared` with a file and a folder, beside which lie others, one with a name that begins alike.
class ScopeTest : public KeepTest {
 protected:
  ScopeTest() {
    for (const char* path : {"shared/a", "shared/deep/b", "shared2/c", "private/d", "top"}) put(path, path);
    limited = ws.limited_to("shared");
  }

  Code code_of_change(Change change) {
    return code_of([&] { keep->files().apply_one(limited, std::move(change)); });
  }
  // The paths of the trash that the authority sees.
  std::vector<std::string> trashed(const Authority& authority) {
    std::vector<std::string> paths;
    for (const auto& entry : keep->files().trash(authority, "", 100).items) paths.push_back(entry.path);
    return paths;
  }
  bool tells_where() const {
    const auto& facts = last_error->facts();
    return std::any_of(facts.begin(), facts.end(),
                       [](const auto& fact) { return fact.first == "trashed_file_id"; });
  }
  Id id_at(std::string_view path) { return keep->files().get(ws, path).id; }
  Id head_of(std::string_view path) { return keep->files().get(ws, path).head; }

  const std::vector<std::string> outside = {"", "top", "private", "private/d", "shared2", "shared2/c"};
  Authority limited = ws;
};

TEST_F(ScopeTest, AnAuthorityIsOnlyEverNarrowed) {
  EXPECT_EQ(limited.path_scope(), "shared");
  EXPECT_EQ(limited.right(), ws.right());
  EXPECT_EQ(limited.limited_to("shared/deep").path_scope(), "shared/deep");
  for (const auto& path : outside)
    EXPECT_EQ(code_of([&] { limited.limited_to(path); }), Code::forbidden) << path;
  EXPECT_TRUE(limited.covers("shared") && limited.covers("shared/deep/b"));
  EXPECT_TRUE(limited.covers_place("shared/a"));
  EXPECT_FALSE(limited.covers_place("shared"));
  EXPECT_TRUE(ws.covers_place("shared") && ws.covers(""));
}

// A call that was written without a thought of scopes asks need(), which refuses.
TEST_F(ScopeTest, TheRightInTheWholeWorkspaceIsRefused) {
  EXPECT_EQ(code_of([&] { limited.need(Right::read); }), Code::forbidden);
  limited.need_in_scope(Right::own);
  limited.need_at(Right::write, "shared/new");
  EXPECT_EQ(code_of([&] { limited.need_at(Right::write, "private/new"); }), Code::forbidden);
}

TEST_F(ScopeTest, Reading) {
  auto& files = keep->files();
  EXPECT_TRUE(files.find(limited, "shared"));
  EXPECT_EQ(files.get(limited, "shared/deep/b").path, "shared/deep/b");
  for (const auto& path : outside) {
    EXPECT_FALSE(files.find(limited, path)) << path;
    EXPECT_EQ(code_of([&] { files.get(limited, path); }), Code::not_found) << path;
  }
  EXPECT_TRUE(files.find_by_id(limited, id_at("shared/a")));
  EXPECT_FALSE(files.find_by_id(limited, id_at("private/d")));
  EXPECT_TRUE(files.find_version(limited, head_of("shared/a")));
  EXPECT_FALSE(files.find_version(limited, head_of("private/d")));
  EXPECT_EQ(files.versions(limited, id_at("shared/a"), "", 10).items.size(), 1u);
  EXPECT_TRUE(files.versions(limited, id_at("private/d"), "", 10).items.empty());
}

TEST_F(ScopeTest, AFileThatIsMovedOutIsNotReadAnyMore) {
  auto id = id_at("shared/a");
  auto version = head_of("shared/a");
  apply(MoveChange{"shared/a", "private/a", OnExisting::refuse, {}});
  EXPECT_FALSE(keep->files().find_by_id(limited, id));
  EXPECT_FALSE(keep->files().find_version(limited, version));
  EXPECT_EQ(code_of_change(RestoreVersionChange{version, {}}), Code::not_found);
}

TEST_F(ScopeTest, WhereATrashedEntryLiesIsNotToldOutside) {
  apply(TrashChange{"private", {}});
  code_of([&] { keep->files().get(ws, "private/d"); });
  EXPECT_TRUE(tells_where());
  code_of([&] { keep->files().get(limited, "private/d"); });
  EXPECT_FALSE(tells_where());
}

TEST_F(ScopeTest, ListingAndSearchingByName) {
  auto& files = keep->files();
  ListOptions everything{.folder = "shared", .recursive = true, .glob = "", .cursor = ""};
  EXPECT_EQ(files.list(limited, everything).items.size(), 3u);
  ListOptions named{.folder = "shared", .recursive = true, .glob = "**/b", .cursor = ""};
  EXPECT_EQ(files.list(limited, named).items.size(), 1u);
  for (const auto& folder : {"", "private", "shared2"}) {
    ListOptions options{.folder = folder, .recursive = true, .glob = "**", .cursor = ""};
    EXPECT_EQ(code_of([&] { files.list(limited, options); }), Code::not_found) << folder;
    EXPECT_TRUE(files.heads(limited, {.folder = folder, .after = {}}).empty()) << folder;
  }
  EXPECT_EQ(files.heads(limited, {.folder = "shared", .after = {}}).size(), 2u);
}

TEST_F(ScopeTest, Writing) {
  auto& files = keep->files();
  files.check_put(limited, "shared/new", {});
  files.apply_one(limited, put_change("shared/new/x", "1"));
  files.apply_one(limited, MkdirChange{"shared/folder", 0755, {}, true});
  files.apply_one(limited, SetModeChange{"shared/a", 0600, {}, {}});
  files.apply_one(limited, TrashChange{"shared/a", {}});
  auto before = keep->journal().head_seq(ws);
  for (const auto& path : {"top", "new", "private/d", "private/new", "shared2/c"}) {
    EXPECT_EQ(code_of([&] { files.check_put(limited, path, {}); }), Code::forbidden) << path;
    EXPECT_EQ(code_of_change(put_change(path, "1")), Code::forbidden) << path;
    EXPECT_EQ(code_of_change(MkdirChange{path, 0755, {}, true}), Code::forbidden) << path;
    EXPECT_EQ(code_of_change(SetModeChange{path, 0600, {}, {}}), Code::forbidden) << path;
    EXPECT_EQ(code_of_change(TrashChange{path, {}}), Code::forbidden) << path;
  }
  EXPECT_EQ(keep->journal().head_seq(ws), before);
}

// The name of the folder belongs to the folder above it.
TEST_F(ScopeTest, TheFolderItselfStaysWhereItIs) {
  EXPECT_EQ(code_of_change(TrashChange{"shared", {}}), Code::forbidden);
  EXPECT_EQ(code_of_change(MoveChange{"shared", "shared/deep/x", OnExisting::refuse, {}}), Code::forbidden);
  EXPECT_EQ(code_of_change(MoveChange{"shared/deep", "shared", OnExisting::replace, {}}), Code::forbidden);
  apply(TrashChange{"shared", {}});
  EXPECT_EQ(code_of_change(put_change("shared/new", "1")), Code::forbidden);
  EXPECT_EQ(code_of_change(put_change("shared", "1")), Code::forbidden);
  EXPECT_FALSE(keep->files().find(ws, "shared"));
}

TEST_F(ScopeTest, OneFileCanBeTheScope) {
  auto file = ws.limited_to("shared/a");
  EXPECT_TRUE(keep->files().find(file, "shared/a"));
  EXPECT_FALSE(keep->files().find(file, "shared/deep/b"));
  keep->files().apply_one(file, put_change("shared/a", "2"));
  EXPECT_EQ(bytes_at("shared/a"), "2");
  EXPECT_EQ(code_of([&] { keep->files().apply_one(file, TrashChange{"shared/a", {}}); }), Code::forbidden);
}

TEST_F(ScopeTest, MovingAndCopying) {
  auto& files = keep->files();
  files.apply_one(limited, MoveChange{"shared/a", "shared/deep/a", OnExisting::refuse, {}});
  EXPECT_EQ(code_of_change(MoveChange{"shared/deep/a", "private/a", OnExisting::refuse, {}}),
            Code::forbidden);
  EXPECT_EQ(code_of_change(MoveChange{"private/d", "shared/d", OnExisting::refuse, {}}), Code::forbidden);
  CopyChange copy;
  copy.from = "shared/deep";
  copy.to = "shared/copy";
  files.apply_one(limited, copy);
  EXPECT_TRUE(files.find(ws, "shared/copy/b"));
  copy.to = "private/copy";
  EXPECT_EQ(code_of_change(copy), Code::forbidden);
  copy.from = "private";
  copy.to = "shared/copy2";
  EXPECT_EQ(code_of_change(copy), Code::forbidden);
  copy.from.clear();
  copy.from_version = head_of("private/d");
  EXPECT_EQ(code_of_change(copy), Code::not_found);
}

// The actor may read the other workspace, but the limited authority does not stand for the actor.
TEST_F(ScopeTest, NothingIsCopiedFromAnotherWorkspace) {
  auto other = keep->workspaces().create(actor, "other");
  auto theirs = keep->workspaces().open(actor, "other", Right::write);
  keep->files().apply_one(theirs, put_change("x", "1"));
  CopyChange copy;
  copy.from = "x";
  copy.from_workspace = other.id;
  copy.to = "shared/x";
  EXPECT_EQ(code_of_change(copy), Code::not_found);
  apply(copy);
}

TEST_F(ScopeTest, ABatch) {
  std::vector<Change> changes;
  changes.push_back(put_change("shared/one", "1"));
  changes.push_back(put_change("private/two", "2"));
  EXPECT_EQ(code_of([&] { keep->files().apply(limited, std::move(changes)); }), Code::forbidden);
  EXPECT_FALSE(keep->files().find(ws, "shared/one"));
  auto each =
      keep->files().apply_each(limited, {put_change("shared/one", "1"), put_change("private/two", "2")});
  EXPECT_TRUE(each[0].result);
  ASSERT_TRUE(each[1].refused);
  EXPECT_EQ(each[1].refused->code(), Code::forbidden);
  EXPECT_FALSE(keep->files().find(ws, "private/two"));
}

TEST_F(ScopeTest, TheTrash) {
  auto inside = apply(TrashChange{"shared/a", {}}).entry.id;
  auto beside = apply(TrashChange{"private/d", {}}).entry.id;
  apply(TrashChange{"shared2", {}});
  auto& files = keep->files();
  EXPECT_EQ(trashed(limited), std::vector<std::string>{"shared/a"});
  EXPECT_EQ(code_of([&] { files.restore(limited, beside, OnExisting::refuse); }), Code::not_found);
  EXPECT_EQ(code_of([&] { files.restore(limited, beside, OnExisting::refuse, "shared/d"); }),
            Code::not_found);
  EXPECT_EQ(code_of([&] { files.restore(limited, inside, OnExisting::refuse, "private/a"); }),
            Code::forbidden);
  EXPECT_EQ(code_of([&] { files.purge(limited, beside); }), Code::not_found);
  files.restore(limited, inside, OnExisting::refuse);
  apply(TrashChange{"shared/a", {}});
  EXPECT_EQ(files.empty_trash(limited).files, 1);
  EXPECT_EQ(trashed(ws), (std::vector<std::string>{"shared2", "private/d"}));
  expect_clean();
}

TEST_F(ScopeTest, PurgingAVersion) {
  auto inside = head_of("shared/a");
  auto beside = head_of("private/d");
  put("shared/a", "2");
  put("private/d", "2");
  EXPECT_EQ(code_of([&] { keep->files().purge_version(limited, beside); }), Code::not_found);
  keep->files().purge_version(limited, inside);
}

TEST_F(ScopeTest, RestoringAsOfATime) {
  auto then = clock.now_us();
  put("shared/deep/b", "2");
  put("private/d", "2");
  clock.advance_us(kSecondUs);
  auto& files = keep->files();
  EXPECT_EQ(code_of([&] { files.restore_as_of(limited, "private", then, true); }), Code::forbidden);
  EXPECT_EQ(code_of([&] { files.restore_as_of(limited, "", then, false); }), Code::forbidden);
  files.restore_as_of(limited, "shared/deep", then, false);
  EXPECT_EQ(bytes_at("shared/deep/b"), "shared/deep/b");
  EXPECT_EQ(bytes_at("private/d"), "2");
}

// They lie outside of the scope by now, in the tree or in the trash.
TEST_F(ScopeTest, RestoringAsOfATimeTakesNothingFromOutside) {
  auto then = clock.now_us();
  apply(MoveChange{"shared/deep/b", "private/b", OnExisting::refuse, {}});
  auto restore = [&] { keep->files().restore_as_of(limited, "shared/deep", then, false); };
  EXPECT_EQ(code_of(restore), Code::forbidden);
  apply(TrashChange{"private/b", {}});
  EXPECT_EQ(code_of(restore), Code::forbidden);
}

TEST_F(ScopeTest, Locks) {
  auto& locks = keep->locks();
  auto beside = locks.acquire(ws, {.path = "private/d", .purpose = ""});
  auto inside = locks.acquire(limited, {.path = "shared/a", .purpose = ""});
  EXPECT_EQ(code_of([&] { locks.acquire(limited, {.path = "top", .purpose = ""}); }), Code::forbidden);
  EXPECT_EQ(code_of([&] { locks.acquire(limited, {.path = "", .purpose = ""}); }), Code::forbidden);
  ASSERT_EQ(locks.list(limited).size(), 1u);
  EXPECT_EQ(locks.list(limited)[0].id, inside.id);
  EXPECT_EQ(code_of([&] { locks.renew(limited, beside.token, 60); }), Code::not_found);
  EXPECT_EQ(code_of([&] { locks.release(limited, beside.token); }), Code::not_found);
  EXPECT_EQ(code_of([&] { locks.break_lock(limited, beside.id); }), Code::not_found);
  locks.renew(limited, inside.token, 60);
  locks.break_lock(limited, inside.id);
}

TEST_F(ScopeTest, Links) {
  auto inside = *keep->files().find_version(ws, head_of("shared/a"));
  auto beside = *keep->files().find_version(ws, head_of("private/d"));
  EXPECT_FALSE(keep->links().signed_path_of(limited, inside).empty());
  EXPECT_EQ(code_of([&] { keep->links().signed_path_of(limited, beside); }), Code::forbidden);
}

TEST_F(ScopeTest, TheJournalTellsOnlyOfPathsInside) {
  auto after = keep->journal().head_seq(limited);
  put("shared/a", "2");
  put("private/d", "2");
  keep->workspaces().change(ws, "renamed", std::nullopt);
  apply(MoveChange{"shared/a", "private/secret name", OnExisting::refuse, {}});
  auto events = keep->journal().events(limited, after, 100, {}).items;
  ASSERT_EQ(events.size(), 2u);
  EXPECT_EQ(events[0].personal.at("path"), "shared/a");
  EXPECT_EQ(events[1].kind, "file.move");
  EXPECT_EQ(events[1].personal, Json({{"from", "shared/a"}}));
  EventFilter elsewhere;
  elsewhere.path_prefix = "private";
  elsewhere.and_above = true;
  EXPECT_TRUE(keep->journal().events(limited, after, 100, elsewhere).items.empty());
  EXPECT_EQ(code_of([&] { keep->audit().export_to(limited, [](std::string_view) {}); }), Code::forbidden);
}

TEST_F(ScopeTest, WhatConcernsTheWholeWorkspaceIsRefused) {
  auto& workspaces = keep->workspaces();
  auto robot = keep->access().create_principal(actor, "robot", "agent").id;
  auto upload = keep->uploads().create(ws, {.filename = "c.bin", .mime = "", .size = 3}).id;
  const std::map<std::string, std::function<void()>> calls = {
      {"rename", [&] { workspaces.change(limited, "mine", std::nullopt); }},
      {"quota", [&] { workspaces.change(limited, std::nullopt, 1 << 20); }},
      {"trash", [&] { workspaces.trash(limited); }},
      {"revoke_links", [&] { workspaces.revoke_links(limited); }},
      {"set_member", [&] { workspaces.set_member(limited, robot, Right::read); }},
      {"upload", [&] { keep->uploads().create(limited, {.filename = "c.bin", .mime = "", .size = 3}); }},
      {"part", [&] { keep->uploads().add_part(limited, upload, content("abc")); }},
      {"append", [&] { keep->uploads().append(limited, upload, 0, content("abc")); }},
      {"cancel", [&] { keep->uploads().cancel(limited, upload); }},
  };
  for (const auto& [name, call] : calls) EXPECT_EQ(code_of(call), Code::forbidden) << name;
}

TEST_F(ScopeTest, ALimitedAuthorityIsCheckedAgainToo) {
  auto member = keep->access().create_principal(actor, "robot", "agent");
  keep->workspaces().set_member(ws, member.id, Right::write);
  auto robot = actor_by_key(*keep, member.id);
  auto theirs = keep->workspaces()
                    .open(robot, ws.workspace_id().with_prefix(prefix::workspace), Right::write)
                    .limited_to("shared");
  keep->files().apply_one(theirs, put_change("shared/x", "1"));
  keep->access().revoke_key(actor, robot.key());
  EXPECT_EQ(code_of([&] { keep->files().apply_one(theirs, put_change("shared/y", "1")); }),
            Code::unauthorized);
}

}  // namespace
}  // namespace sk::workspace
