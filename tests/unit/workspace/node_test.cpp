// The id of a data folder.
#include "keep_fixture.h"

namespace sk::workspace {
namespace {

using NodeTest = KeepTest;

TEST_F(NodeTest, AFolderKeepsItsIdAcrossRestarts) {
  Id node = keep->context().node;
  EXPECT_TRUE(node);
  reopen();
  EXPECT_EQ(keep->context().node, node);
}

TEST_F(NodeTest, AFolderWithADamagedIdIsNotOpened) {
  keep.reset();
  write_file_durably(dir.path() + "/node", "nonsense\n", 0600);
  EXPECT_EQ(code_of([&] { open(); }), Code::corrupt);
}

TEST_F(NodeTest, AnotherFolderHasAnotherId) {
  TempDir other;
  Keep second(test::keep_options(other.path()), clock, metrics);
  EXPECT_NE(keep->context().node, second.context().node);
}

}  // namespace
}  // namespace sk::workspace
