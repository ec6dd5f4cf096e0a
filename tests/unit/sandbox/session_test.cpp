// A session from its start to its end, as the owner of one sees it.
#include "unit/sandbox/harness.h"

namespace sk::sandbox {
namespace {

using namespace testing;

TEST(Session, RunsACellAndShowsItsLastExpression) {
  TestSession session;
  Cell cell = session.run("1 + 1");
  ASSERT_TRUE(cell.ok());
  EXPECT_EQ(cell.result(), "2");
}

TEST(Session, WritesAPlotIntoTheFolderThatItWasGiven) {
  TestSession session;
  Cell cell = session.run(
      "import matplotlib.pyplot as plt\n"
      "plt.plot([1, 2, 3])\n"
      "plt.savefig('/mnt/data/plot.png')\n"
      "plt.close()");
  ASSERT_TRUE(cell.ok()) << cell.errors << (cell.raised.empty() ? "" : cell.raised[0].traceback);
  std::string bytes = read_file(session.folder() + "/plot.png");
  EXPECT_EQ(bytes.substr(0, 8), "\x89PNG\r\n\x1a\n");
  struct stat info{};
  ASSERT_EQ(::stat((session.folder() + "/plot.png").c_str(), &info), 0);
  EXPECT_EQ(info.st_uid, host().file_owner().uid);
}

}  // namespace
}  // namespace sk::sandbox
