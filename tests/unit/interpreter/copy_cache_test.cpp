#include "interpreter/copy/copy_cache.h"

#include "unit/interpreter/copy_fixture.h"

namespace sk::interpreter {
namespace {

class CopyCacheTest : public CopyTest {
 protected:
  std::string folder_of(const SessionInfo& one) const { return context.directory + "/" + one.id.hex(); }
};

TEST_F(CopyCacheTest, CopiesOfADeletedSessionAreFoundAtTheNextStart) {
  CopyCache copies({.directory = context.directory}, records);
  auto other = make_session();
  for (const auto& folder : {folder_of(session), folder_of(session) + ".suspect", folder_of(other)})
    std::filesystem::create_directories(folder);
  EXPECT_TRUE(copies.of_deleted_sessions().empty());
  records.mark_deleted(ws, session, clock.now_us());
  auto found = copies.of_deleted_sessions();
  ASSERT_EQ(found.size(), 2u) << "the copy, and what was put aside of it";
  for (const auto& one : found) CopyKeeper(context, one).remove();
  EXPECT_FALSE(std::filesystem::exists(folder_of(session)));
  EXPECT_FALSE(std::filesystem::exists(folder_of(session) + ".suspect"));
  EXPECT_TRUE(std::filesystem::exists(folder_of(other)));
}

TEST_F(CopyCacheTest, ACopyInWhichNoCodeRanYetBringsNothingBack) {
  // A server was killed while it brought the files, before it wrote their rows. A client has purged one
  // since.
  CopyKeeper(context, session).prepare();
  write("a.txt", "purged");
  CopyKeeper keeper(context, session);
  keeper.prepare();
  EXPECT_TRUE(keeper.recover(as()).kept);
  EXPECT_FALSE(find("s/a.txt")) << "it was never recorded that the copy is used";
  EXPECT_TRUE(records.unkept(session.id).empty());
}

TEST_F(CopyCacheTest, AnEvictedCopyThatWasNotRemovedBringsNothingBack) {
  {
    CopyKeeper keeper(context, session);
    keeper.prepare();
    keeper.open(as());
    keeper.mark_used();
    EXPECT_TRUE(keeper.close(as()).kept);
  }
  records.forget_copy(session);
  write("a.txt", "purged");
  CopyKeeper keeper(context, session);
  keeper.prepare();
  EXPECT_TRUE(keeper.recover(as()).kept);
  EXPECT_FALSE(find("s/a.txt"));
}

TEST_F(CopyCacheTest, WithoutADirectoryThereAreNoCopies) {
  CopyCache copies({.directory = directory.file("missing")}, records);
  EXPECT_TRUE(copies.of_deleted_sessions().empty());
}

}  // namespace
}  // namespace sk::interpreter
