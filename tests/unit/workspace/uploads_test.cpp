#include "workspace/uploads.h"

#include <atomic>
#include <filesystem>
#include <mutex>
#include <random>
#include <set>
#include <thread>

#include "base/hash.h"
#include "unit/workspace/keep_fixture.h"

namespace sk::workspace {
namespace {

class UploadsTest : public KeepTest {
 protected:
  UploadInfo begin(std::optional<uint64_t> size) {
    return keep->uploads().create(ws, {.filename = "big.bin", .mime = "", .size = size});
  }
  UploadInfo append(const UploadInfo& upload, uint64_t offset, std::string_view bytes) {
    return keep->uploads().append(ws, upload.id, offset, content(bytes));
  }
  UploadInfo finish(const UploadInfo& upload) {
    return keep->uploads().complete(ws, upload.id, {.parts = {}, .place = "appended.bin", .md5 = {}},
                                    [] { return true; });
  }
  std::string bytes_of_upload(const UploadInfo& done) {
    return bytes_of(*keep->files().find_version(ws, done.version));
  }
  Id part(const UploadInfo& upload, std::string_view bytes) {
    return keep->uploads().add_part(ws, upload.id, content(bytes)).id;
  }
  UploadInfo complete(const UploadInfo& upload, std::vector<Id> parts, std::optional<std::string> md5 = {}) {
    return keep->uploads().complete(
        ws, upload.id, {std::move(parts), "uploads/" + keep->context().ids.next().hex(), std::move(md5)},
        [] { return true; });
  }
  static std::string random_bytes(size_t size, unsigned seed) {
    std::mt19937_64 random(seed);
    std::string out(size, '\0');
    for (auto& c : out) c = static_cast<char>(random());
    return out;
  }
  Json fact(std::string_view wanted) {
    for (const auto& [name, value] : last_error->facts())
      if (name == wanted) return std::visit([](const auto& one) { return Json(one); }, value);
    return {};
  }
  uint64_t used_bytes() { return keep->workspaces().open(actor, "default").workspace().used_bytes; }
};

TEST_F(UploadsTest, PartsBecomeOneFileInTheOrderThatIsNamed) {
  auto upload = begin(6);
  auto second = part(upload, "def"), first = part(upload, "abc");
  auto done = complete(upload, {first, second});
  EXPECT_EQ(done.status, "completed");
  EXPECT_EQ(bytes_of(*keep->files().find_version(ws, done.version)), "abcdef");
  EXPECT_EQ(keep->uploads().get(ws, upload.id).version, done.version);
  EXPECT_EQ(used_bytes(), 6u) << "the parts no longer count";
  expect_clean();
}

TEST_F(UploadsTest, LargePartsAreJoinedWithoutStoringTheirBytesTwice) {
  std::string a = random_bytes(24'000'000, 1), b = random_bytes(24'000'000, 2);
  auto upload = begin(a.size() + b.size());
  auto first = part(upload, a), second = part(upload, b);
  auto done = complete(upload, {first, second});
  EXPECT_EQ(bytes_of(*keep->files().find_version(ws, done.version)), a + b);
  expect_clean();
  // Nothing was collected yet: what lies on disk is the parts, and the few chunks over their seam.
  uint64_t stored = 0;
  for (const auto& file : std::filesystem::recursive_directory_iterator(std::string(dir.path()) + "/blobs"))
    if (file.is_regular_file()) stored += file.file_size();
  EXPECT_GE(stored, a.size() + b.size());
  EXPECT_LT(stored, (a.size() + b.size()) * 3 / 2);
  EXPECT_EQ(used_bytes(), a.size() + b.size());
}

// The quota counts its bytes once, but a session that gets the file writes all of it.
TEST_F(UploadsTest, APartIsNamedOnce) {
  auto upload = begin(6);
  auto one = part(upload, "abc"), same = part(upload, "abc");
  EXPECT_EQ(code_of([&] { complete(upload, {one, one}); }), Code::bad_request);
  auto done = complete(upload, {one, same});
  EXPECT_EQ(bytes_of(*keep->files().find_version(ws, done.version)), "abcabc");
}

TEST_F(UploadsTest, PartsThatDoNotAddUpAreRefusedAndTheUploadGoesOn) {
  auto upload = begin(3), other = begin(3);
  auto mine = part(upload, "abc"), foreign = part(other, "xyz");
  EXPECT_EQ(code_of([&] { complete(upload, {}); }), Code::bad_request);
  EXPECT_EQ(code_of([&] { complete(upload, {foreign}); }), Code::bad_request);
  EXPECT_EQ(code_of([&] { complete(upload, {mine}, std::string(16, 'x')); }), Code::bad_request);
  EXPECT_EQ(complete(upload, {mine}).status, "completed");
  EXPECT_EQ(code_of([&] { part(upload, "abc"); }), Code::bad_request);
}

TEST_F(UploadsTest, ACancelledUploadLeavesNothing) {
  auto upload = begin(3);
  auto one = part(upload, "abc");
  EXPECT_EQ(used_bytes(), 3u);
  EXPECT_EQ(keep->uploads().cancel(ws, upload.id).status, "cancelled");
  EXPECT_EQ(used_bytes(), 0u);
  EXPECT_EQ(code_of([&] { part(upload, "abc"); }), Code::bad_request);
  EXPECT_EQ(code_of([&] { complete(upload, {one}); }), Code::bad_request);
  expect_clean();
}

TEST_F(UploadsTest, CompletingOrCancellingAgainGivesTheSameAnswerAgain) {
  auto upload = begin(3);
  auto one = part(upload, "abc");
  auto done = complete(upload, {one});
  auto again = complete(upload, {one});
  EXPECT_EQ(again.status, "completed");
  EXPECT_EQ(again.version, done.version);
  EXPECT_EQ(keep->files().find_by_id(ws, keep->files().find_version(ws, done.version)->file)->version_count,
            1);
  EXPECT_EQ(code_of([&] { keep->uploads().cancel(ws, upload.id); }), Code::bad_request);
  auto other = begin(3);
  keep->uploads().cancel(ws, other.id);
  EXPECT_EQ(keep->uploads().cancel(ws, other.id).status, "cancelled");
  expect_clean();
}

TEST_F(UploadsTest, WithoutATypeItIsToldFromTheBytes) {
  NewUpload wanted;
  wanted.filename = "x";
  auto upload = keep->uploads().create(ws, wanted);
  auto one = part(upload, "%PDF-1.4\n"), two = part(upload, "%%EOF");
  auto done = complete(upload, {one, two});
  EXPECT_EQ(keep->files().find_version(ws, done.version)->mime, "application/pdf");
}

TEST_F(UploadsTest, CompletingAgainWithOtherPartsIsRefused) {
  auto upload = begin(6);
  auto one = part(upload, "abc"), two = part(upload, "def");
  auto done = complete(upload, {one, two});
  EXPECT_EQ(code_of([&] { complete(upload, {two, one}); }), Code::conflict);
  EXPECT_EQ(code_of([&] { complete(upload, {one, two}, std::string(16, 'x')); }), Code::conflict);
  EXPECT_EQ(complete(upload, {one, two}).version, done.version);
}

TEST_F(UploadsTest, CompletingAgainComparesTheMd5WithTheFile) {
  Md5Stream stream;
  stream.update(as_bytes("abcdef"));
  auto md5 = stream.digest();
  for (const auto& first : {std::optional<std::string>(), std::optional(md5)}) {
    auto upload = begin(6);
    auto one = part(upload, "abc"), two = part(upload, "def");
    auto done = complete(upload, {one, two}, first);
    EXPECT_EQ(complete(upload, {one, two}, md5).version, done.version);
    EXPECT_EQ(complete(upload, {one, two}).version, done.version);
    EXPECT_EQ(code_of([&] { complete(upload, {one, two}, std::string(16, 'x')); }), Code::conflict);
    EXPECT_EQ(fact("field"), "md5");
  }
}

TEST_F(UploadsTest, AnUploadThatIsNeverCompletedEndsAfterAnHour) {
  auto upload = begin(3), finished = begin(3);
  part(upload, "abc");
  complete(finished, {part(finished, "xyz")});
  clock.advance_us((kUploadLifeS + 1) * kSecondUs);
  EXPECT_EQ(keep->uploads().get(ws, upload.id).status, "expired");
  keep->uploads().expire();
  EXPECT_EQ(used_bytes(), 3u) << "of the one that was completed";
  EXPECT_EQ(keep->uploads().get(ws, upload.id).status, "expired");
  EXPECT_EQ(keep->uploads().get(ws, finished.id).status, "completed");
  EXPECT_EQ(code_of([&] { part(upload, "abc"); }), Code::bad_request);
  expect_clean();
}

TEST_F(UploadsTest, WhatBelongsToTheFileIsWrittenInItsTransaction) {
  auto upload = begin(3);
  auto one = part(upload, "abc");
  int calls = 0;
  auto finish = [&](bool fails) {
    return keep->uploads().complete(ws, upload.id,
                                    {.parts = {{one}},
                                     .place = "uploads/big.bin",
                                     .md5 = {},
                                     .conditions = {},
                                     .also =
                                         [&](catalog::Tx&, const std::vector<ChangeResult>& made) {
                                           ++calls;
                                           EXPECT_EQ(made.at(0).entry.path, "uploads/big.bin");
                                           if (fails) throw Error(Code::conflict, "no");
                                         }},
                                    [] { return true; });
  };
  EXPECT_EQ(code_of([&] { finish(true); }), Code::conflict);
  EXPECT_EQ(keep->uploads().get(ws, upload.id).status, "pending");
  EXPECT_TRUE(paths().empty());
  EXPECT_EQ(finish(false).status, "completed");
  int calls_before = std::exchange(calls, 0);  // a transaction may run again
  EXPECT_GE(calls_before, 2);
  EXPECT_EQ(finish(false).status, "completed");
  EXPECT_EQ(calls, 0) << "not for a completion that is asked for again";
  expect_clean();
}

TEST_F(UploadsTest, OtherPrincipalsDoNotHaveThem) {
  auto upload = begin(3);
  auto other = keep->access().create_principal(actor, "other", "person");
  auto stranger = keep->access().authenticate(
      keep->access().create_key(actor, other.id, identity::NewKey{"k", false, {}, {}}).secret);
  EXPECT_EQ(code_of([&] { keep->uploads().workspace_of(stranger, upload.id); }), Code::not_found);
  EXPECT_EQ(keep->uploads().workspace_of(actor, upload.id), ws.workspace_id());
  // Not even who may write to the same workspace, nor with an authority for another one.
  keep->workspaces().set_member(ws, other.id, Right::write);
  auto name = ws.workspace_id().with_prefix(prefix::workspace);
  for (const auto& authority : {keep->workspaces().open(stranger, name, Right::write),
                                keep->workspaces().open(stranger, "default", Right::write)}) {
    EXPECT_EQ(code_of([&] { keep->uploads().get(authority, upload.id); }), Code::not_found);
    EXPECT_EQ(code_of([&] { keep->uploads().cancel(authority, upload.id); }), Code::not_found);
    EXPECT_EQ(code_of([&] { keep->uploads().add_part(authority, upload.id, content("x")); }),
              Code::not_found);
    EXPECT_EQ(code_of([&] { keep->uploads().append(authority, upload.id, 0, content("x")); }),
              Code::not_found);
  }
}

TEST_F(UploadsTest, SmallPartsAndTheirFileDoNotCountTwiceAgainstTheQuota) {
  // Parts of this size are kept in their rows, so the file shares nothing with them.
  keep->workspaces().change(ws, {}, 400'000);
  auto upload = begin(300'000);
  std::vector<Id> parts;
  for (unsigned seed : {1, 2, 3}) parts.push_back(part(upload, random_bytes(100'000, seed)));
  EXPECT_EQ(complete(upload, parts).status, "completed");
  EXPECT_EQ(used_bytes(), 300'000u);
  expect_clean();
}

TEST_F(UploadsTest, AnUploadCannotContinueWithoutTheRightToWrite) {
  auto made = keep->access().create_principal(actor, "other", "person");
  auto other = keep->access().authenticate(
      keep->access().create_key(actor, made.id, identity::NewKey{"k", false, {}, {}}).secret);
  keep->workspaces().set_member(ws, made.id, Right::write);
  auto theirs =
      keep->workspaces().open(other, ws.workspace_id().with_prefix(prefix::workspace), Right::write);
  auto upload = keep->uploads().create(theirs, {.filename = "big.bin", .mime = "", .size = 3});
  auto one = keep->uploads().add_part(theirs, upload.id, content("abc")).id;
  auto finish = [&] {
    return keep->uploads().complete(theirs, upload.id, {{{one}}, "uploads/big.bin", {}}, [] { return true; });
  };
  for (auto role : {std::optional(Right::read), std::optional<Right>()}) {
    keep->workspaces().set_member(ws, made.id, role);
    auto expected = role ? Code::forbidden : Code::not_found;
    EXPECT_EQ(code_of([&] { keep->uploads().add_part(theirs, upload.id, content("x")); }), expected);
    EXPECT_EQ(code_of([&] { keep->uploads().append(theirs, upload.id, 0, content("x")); }), expected);
    EXPECT_EQ(code_of([&] { keep->uploads().cancel(theirs, upload.id); }), expected);
    EXPECT_EQ(code_of(finish), expected);
  }
  keep->workspaces().set_member(ws, made.id, Right::write);
  EXPECT_EQ(finish().status, "completed");
  expect_clean();
}

TEST_F(UploadsTest, ACompletionThatACancellationOvertakesSaysSo) {
  const auto bytes = random_bytes(9'000'000, 5);
  auto upload = begin(2 * bytes.size());
  auto one = part(upload, bytes), two = part(upload, random_bytes(9'000'000, 6));
  bool cancelled = false;
  auto finish = [&] {
    keep->uploads().complete(ws, upload.id, {{{one, two}}, "uploads/big.bin", {}}, [&] {
      if (!std::exchange(cancelled, true)) {
        keep->uploads().cancel(ws, upload.id);
        keep->upkeep().collect(0);
      }
      return true;
    });
  };
  EXPECT_EQ(code_of(finish), Code::bad_request);
  EXPECT_EQ(used_bytes(), 0u);
  EXPECT_FALSE(keep->files().find(ws, "uploads/big.bin"));
  keep->upkeep().collect(0);
  expect_clean();
  EXPECT_EQ(keep->upkeep().verify().blobs, 0);
}

TEST_F(UploadsTest, CompletedByManyAtOnceItIsOneFile) {
  const auto bytes = random_bytes(3'000'000, 7);
  auto upload = begin(bytes.size());
  auto one = part(upload, bytes);
  std::vector<std::thread> threads;
  std::mutex mutex;
  std::set<Id> versions;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&, i] {
      auto done = keep->uploads().complete(ws, upload.id, {{{one}}, "uploads/" + std::to_string(i), {}},
                                           [] { return true; });
      std::lock_guard lock(mutex);
      versions.insert(done.version);
    });
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(versions.size(), 1u);
  EXPECT_EQ(paths().size(), 2u) << "the folder and one file";
  EXPECT_EQ(used_bytes(), bytes.size());
  expect_clean();
}

TEST_F(UploadsTest, AppendedBytesBecomeOneFile) {
  auto upload = begin(6);
  EXPECT_EQ(append(upload, 0, "abc").received, 3u);
  EXPECT_EQ(append(upload, 3, "def").received, 6u);
  EXPECT_EQ(used_bytes(), 6u);
  auto done = finish(upload);
  EXPECT_EQ(bytes_of_upload(done), "abcdef");
  EXPECT_EQ(finish(upload).version, done.version);
  EXPECT_EQ(used_bytes(), 6u);
  expect_clean();
}

TEST_F(UploadsTest, AnAppendAtAnotherOffsetIsRefusedAndSaysWhereToGoOn) {
  auto upload = begin(6);
  append(upload, 0, "abc");
  for (uint64_t offset : {0, 2, 4}) {
    EXPECT_EQ(code_of([&] { append(upload, offset, "x"); }), Code::conflict) << offset;
    EXPECT_EQ(fact("offset"), 3);
  }
  EXPECT_EQ(code_of([&] { append(upload, 3, "defg"); }), Code::bad_request) << "more than was announced";
  EXPECT_EQ(code_of([&] { finish(upload); }), Code::bad_request) << "less than was announced";
  append(upload, 3, "def");
  EXPECT_EQ(bytes_of_upload(finish(upload)), "abcdef");
  EXPECT_EQ(code_of([&] { append(upload, 6, ""); }), Code::bad_request);
  expect_clean();
}

TEST_F(UploadsTest, OfManyAppendsAtOneOffsetOneIsKept) {
  auto upload = begin({});
  std::atomic<int> kept = 0, refused = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&, bytes = std::string(3, static_cast<char>('a' + i))] {
      try {
        append(upload, 0, bytes);
        ++kept;
      } catch (const Error& error) {
        if (error.code() == Code::conflict) ++refused;
      }
    });
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(kept, 1);
  EXPECT_EQ(refused, 3);
  EXPECT_EQ(bytes_of_upload(finish(upload)).size(), 3u);
  expect_clean();
}

TEST_F(UploadsTest, AppendedBytesOutliveARestartAndNeedNoAnnouncedSize) {
  auto upload = begin({});
  append(upload, 0, "abc");
  reopen();
  EXPECT_EQ(keep->uploads().get(ws, upload.id).received, 3u);
  EXPECT_FALSE(keep->uploads().get(ws, upload.id).wanted.size.has_value());
  append(upload, 3, "def");
  EXPECT_EQ(bytes_of_upload(finish(upload)), "abcdef");
}

TEST_F(UploadsTest, AnUploadThatIsLargerThanTheQuotaIsRefusedBeforeItsBytes) {
  keep->workspaces().change(ws, {}, 1'000);
  NewUpload wanted{.filename = "big.bin", .mime = "", .size = 1'001};
  EXPECT_EQ(keep->uploads().create(ws, wanted).status, "pending") << "its dialect refuses the bytes";
  wanted.quota = NewUpload::Quota::announced;
  EXPECT_EQ(code_of([&] { keep->uploads().create(ws, wanted); }), Code::quota_exceeded);
  wanted.size = 1'000;
  EXPECT_EQ(keep->uploads().create(ws, wanted).status, "pending");
}

TEST_F(UploadsTest, TooManyUnfinishedOnesAreToldWhenTheFirstExpires) {
  NewUpload wanted{.filename = "big.bin", .mime = "", .size = 3};
  for (int64_t i = 0; i < kUploadsPendingMax; ++i) {
    wanted.life_s = 600 + i;
    keep->uploads().create(ws, wanted);
  }
  clock.advance_us(100 * kSecondUs);
  EXPECT_EQ(code_of([&] { keep->uploads().create(ws, wanted); }), Code::too_many_requests);
  EXPECT_EQ(last_error->retry_after_s(), 500);
}

TEST_F(UploadsTest, AnUploadLivesAsLongAsItsDialectWants) {
  NewUpload wanted{.filename = "big.bin", .mime = "", .size = 3};
  wanted.life_s = 2 * kUploadLifeS;
  wanted.detail = {{"box", "inbox"}};
  auto upload = keep->uploads().create(ws, wanted);
  clock.advance_us((kUploadLifeS + 1) * kSecondUs);
  keep->uploads().expire();
  EXPECT_EQ(keep->uploads().get(ws, upload.id).wanted.detail, wanted.detail);
  append(upload, 0, "abc");
  clock.advance_us(kUploadLifeS * kSecondUs);
  keep->uploads().expire();
  EXPECT_EQ(keep->uploads().get(ws, upload.id).status, "expired");
  EXPECT_EQ(used_bytes(), 0u);
  expect_clean();
}

TEST_F(UploadsTest, PartsOutliveARestart) {
  auto upload = begin(6);
  auto first = part(upload, "abc");
  reopen();
  auto done = complete(upload, {first, part(upload, "def")});
  EXPECT_EQ(bytes_of(*keep->files().find_version(ws, done.version)), "abcdef");
}

}  // namespace
}  // namespace sk::workspace
