#include "workspace/intake.h"

#include <gtest/gtest.h>

#include "support/expect_error.h"
#include "unit/workspace/keep_fixture.h"

namespace sk::workspace {
namespace {

class IntakeTest : public KeepTest {};

TEST_F(IntakeTest, TheLimitIsTheLastSizeThatIsTaken) {
  Intake fits(keep->ground(), {.size_max = 10});
  fits.write("12345");
  fits.write("67890");
  EXPECT_EQ(fits.finish().size(), 10u);
  Intake over(keep->ground(), {.size_max = 10});
  over.write("1234567890");
  EXPECT_EQ(code_of([&] { over.write("1"); }), Code::too_large);
  EXPECT_EQ(code_of([] { Intake::check_size(11, 10); }), Code::too_large);
  Intake::check_size(10, 10);
}

TEST_F(IntakeTest, WithoutALimitOfItsOwnTheServersLimitCounts) {
  keep->ground().limits.file_bytes_max = 3;
  Intake intake(keep->ground());
  EXPECT_EQ(code_of([&] { intake.write("1234"); }), Code::too_large);
}

TEST_F(IntakeTest, TheFirstBytesAreKeptAcrossPiecesAndNoMoreOfThem) {
  Intake intake(keep->ground());
  for (int i = 0; i < 1'000; ++i) intake.write("0123456789");
  auto content = intake.finish();
  EXPECT_EQ(content.head_bytes().size(), 4096u);
  EXPECT_EQ(content.head_bytes().substr(0, 12), "012345678901");
  EXPECT_EQ(content.size(), 10'000u);
}

TEST_F(IntakeTest, BytesWithoutTheirAnnouncedChecksumsAreNotKept) {
  Intake wrong_hash(keep->ground(), {.announced = {.sha256 = sha256("other")}});
  wrong_hash.write("bytes");
  EXPECT_EQ(code_of([&] { wrong_hash.finish(); }), Code::bad_request);
  Intake wrong_md5(keep->ground(), {.announced = {.md5 = std::string(16, 'x')}});
  wrong_md5.write("bytes");
  EXPECT_EQ(code_of([&] { wrong_md5.finish(); }), Code::bad_request);
  Intake right(keep->ground(), {.announced = {.sha256 = sha256("bytes")}});
  right.write("bytes");
  EXPECT_EQ(right.finish().hash(), sha256("bytes"));
}

TEST_F(IntakeTest, NothingIsTakenIntoTheDisksReserve) {
  keep->ground().limits.disk_reserve_bytes = UINT64_MAX;
  EXPECT_EQ(code_of([&] { Intake intake(keep->ground()); }), Code::disk_full);
}

TEST_F(IntakeTest, ALongContentLooksAtTheDiskAgain) {
  Intake intake(keep->ground());
  std::string piece(1 << 20, 'x');
  intake.write(piece);
  keep->ground().limits.disk_reserve_bytes = UINT64_MAX;
  EXPECT_EQ(code_of([&] {
              for (int i = 0; i < 8; ++i) intake.write(piece);
            }),
            Code::disk_full);
}

}  // namespace
}  // namespace sk::workspace
