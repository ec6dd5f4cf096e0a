#include "workspace/intake.h"

#include <gtest/gtest.h>

#include "support/expect_error.h"
#include "unit/workspace/keep_fixture.h"

namespace sk::workspace {
namespace {

class IntakeTest : public KeepTest {};

TEST_F(IntakeTest, TheLimitIsTheLastSizeThatIsTaken) {
  Intake fits(keep->context(), {.size_max = 10});
  fits.write("12345");
  fits.write("67890");
  EXPECT_EQ(fits.finish().size(), 10u);
  Intake over(keep->context(), {.size_max = 10});
  over.write("1234567890");
  EXPECT_EQ(code_of([&] { over.write("1"); }), Code::too_large);
  EXPECT_EQ(code_of([] { Intake::check_size(11, 10); }), Code::too_large);
  Intake::check_size(10, 10);
}

TEST_F(IntakeTest, WithoutALimitOfItsOwnTheServersLimitCounts) {
  keep->context().limits.file_bytes_max = 3;
  Intake intake(keep->context());
  EXPECT_EQ(code_of([&] { intake.write("1234"); }), Code::too_large);
}

TEST_F(IntakeTest, TheFirstBytesAreKeptAcrossPiecesAndNoMoreOfThem) {
  Intake intake(keep->context());
  for (int i = 0; i < 1'000; ++i) intake.write("0123456789");
  auto content = intake.finish();
  EXPECT_EQ(content.head_bytes().size(), 4096u);
  EXPECT_EQ(content.head_bytes().substr(0, 12), "012345678901");
  EXPECT_EQ(content.size(), 10'000u);
}

TEST_F(IntakeTest, BytesWithoutTheirAnnouncedChecksumsAreNotKept) {
  Intake wrong_hash(keep->context(), {.announced = {.sha256 = sha256("other")}});
  wrong_hash.write("bytes");
  EXPECT_EQ(code_of([&] { wrong_hash.finish(); }), Code::bad_request);
  Intake wrong_md5(keep->context(), {.announced = {.md5 = std::string(16, 'x')}});
  wrong_md5.write("bytes");
  EXPECT_EQ(code_of([&] { wrong_md5.finish(); }), Code::bad_request);
  Intake right(keep->context(), {.announced = {.sha256 = sha256("bytes")}});
  right.write("bytes");
  EXPECT_EQ(right.finish().hash(), sha256("bytes"));
}

TEST_F(IntakeTest, NothingIsTakenIntoTheDisksReserve) {
  keep->context().limits.disk_reserve_bytes = UINT64_MAX;
  EXPECT_EQ(code_of([&] { Intake intake(keep->context()); }), Code::disk_full);
}

// A store elsewhere, whose room is not that of the local disk.
class DistantStore final : public blobs::Store {
 public:
  explicit DistantStore(blobs::Store& store) : store_(store) {}
  std::unique_ptr<blobs::Writer> begin_write(blobs::KnownBlobs& known) override {
    return store_.begin_write(known);
  }
  blobs::OpenBlob open(const std::string& location, const Sha256& hash, uint64_t size) override {
    return store_.open(location, hash, size);
  }
  bool verify(const std::string& location, const Sha256& hash, uint64_t size) override {
    return store_.verify(location, hash, size);
  }
  void remove(const std::string& location) override { store_.remove(location); }
  std::optional<uint64_t> room() const override { return room_bytes; }
  void for_each(
      const std::function<bool(const std::string& location, uint64_t size, int64_t age_s)>& visit) override {
    store_.for_each(visit);
  }

  std::optional<uint64_t> room_bytes;

 private:
  blobs::Store& store_;
};

TEST_F(IntakeTest, TheRoomIsThatOfTheBlobStore) {
  DistantStore store(keep->context().blobs);
  const KeepContext& own = keep->context();
  KeepContext context{own.db,    store,   own.ledger,  own.feed,   own.revocations,
                      own.clock, own.ids, own.metrics, own.limits, own.directory};
  context.limits.disk_reserve_bytes = 1000;
  store.room_bytes = 999;
  EXPECT_EQ(code_of([&] { Intake intake(context); }), Code::disk_full);
  store.room_bytes = 1000;
  Intake enough(context);
  store.room_bytes = std::nullopt;
  context.limits.disk_reserve_bytes = UINT64_MAX;
  Intake unlimited(context);
}

TEST_F(IntakeTest, ALongContentLooksAtTheDiskAgain) {
  Intake intake(keep->context());
  std::string piece(1 << 20, 'x');
  intake.write(piece);
  keep->context().limits.disk_reserve_bytes = UINT64_MAX;
  EXPECT_EQ(code_of([&] {
              for (int i = 0; i < 8; ++i) intake.write(piece);
            }),
            Code::disk_full);
}

}  // namespace
}  // namespace sk::workspace
