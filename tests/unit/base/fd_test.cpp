#include "base/fd.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>
#include "support/property.h"

#include <filesystem>

#include "support/expect_error.h"
#include "support/temp_folder.h"

namespace sk {
namespace {

using test::expect_error;
using test::TempFolder;

bool is_open(int fd) { return ::fcntl(fd, F_GETFD) >= 0; }

unsigned mode_of(const std::string& path) {
  struct stat info{};
  EXPECT_EQ(::stat(path.c_str(), &info), 0);
  return info.st_mode & 07777;
}

std::vector<std::string> names_in(const TempFolder& folder) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder.path()))
    names.push_back(entry.path().filename());
  return names;
}

TEST(Fd, ClosesWhenItGoesAndNotWhenItWasMoved) {
  TempFolder folder;
  int number;
  {
    Fd first = open_file(folder / "a", O_WRONLY | O_CREAT);
    number = first.get();
    Fd second(std::move(first));
    EXPECT_FALSE(first);
    EXPECT_TRUE(is_open(number));
    Fd third;
    third = std::move(second);
    EXPECT_TRUE(is_open(number));
  }
  EXPECT_FALSE(is_open(number));
}

TEST(Fd, AReleasedDescriptorStaysOpen) {
  TempFolder folder;
  int number = open_file(folder / "a", O_WRONLY | O_CREAT).release();
  EXPECT_TRUE(is_open(number));
  ::close(number);
}

TEST(Fd, OpenedFilesAreNotInheritedByPrograms) {
  TempFolder folder;
  Fd fd = open_file(folder / "a", O_WRONLY | O_CREAT);
  EXPECT_NE(::fcntl(fd.get(), F_GETFD) & FD_CLOEXEC, 0);
}

TEST(Fd, AFileThatIsNotThereIsAnErrorThatNamesIt) {
  TempFolder folder;
  auto message = expect_error(Code::internal, [&] { open_file(folder / "missing", O_RDONLY); });
  EXPECT_NE(message.find(folder / "missing"), std::string::npos);
}

TEST(Fd, ADiskThatIsFullIsAnErrorOfItsOwn) {
  Fd full = open_file("/dev/full", O_WRONLY);
  expect_error(Code::disk_full, [&] { write_all(full.get(), as_bytes("x"), "/dev/full"); });
}

TEST(Fd, WritesAndReadsAtOffsets) {
  TempFolder folder;
  Fd fd = open_file(folder / "a", O_RDWR | O_CREAT);
  write_all_at(fd.get(), as_bytes("world"), 6, "a");
  write_all_at(fd.get(), as_bytes("hello "), 0, "a");
  std::string out(20, '\0');
  auto buffer = std::as_writable_bytes(std::span(out));
  EXPECT_EQ(read_at(fd.get(), buffer, 0, "a"), 11u);
  EXPECT_EQ(out.substr(0, 11), "hello world");
  EXPECT_EQ(read_at(fd.get(), buffer.first(5), 6, "a"), 5u);
  EXPECT_EQ(out.substr(0, 5), "world");
  EXPECT_EQ(read_at(fd.get(), buffer, 11, "a"), 0u);
}

TEST(Fd, ReadingAWholeFileStopsAtTheLimit) {
  TempFolder folder;
  write_file_durably(folder / "a", std::string(1000, 'x'), 0600);
  EXPECT_EQ(read_file(folder / "a", 1000).size(), 1000u);
  expect_error(Code::too_large, [&] { read_file(folder / "a", 999); });
}

TEST(Fd, ADurableWriteReplacesTheContentAndLeavesNothingElse) {
  TempFolder folder;
  write_file_durably(folder / "key", "old and longer", 0600);
  write_file_durably(folder / "key", "new", 0640);
  EXPECT_EQ(read_file(folder / "key"), "new");
  EXPECT_EQ(mode_of(folder / "key"), 0640u);
  EXPECT_THAT(names_in(folder), testing::ElementsAre("key"));
}

TEST(Fd, ADurableWriteThatFailsLeavesTheOldContentAndNothingElse) {
  TempFolder folder;
  std::filesystem::create_directory(folder / "taken");
  expect_error(Code::internal, [&] { write_file_durably(folder / "taken", "x", 0600); });
  EXPECT_THAT(names_in(folder), testing::ElementsAre("taken"));
  expect_error(Code::internal, [&] { write_file_durably(folder / "no-such-folder/a", "x", 0600); });
}

TEST(FdDeathTest, ASyncThatTheKernelRefusesStopsTheProcess) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  Fd read_end(ends[0]);
  Fd write_end(ends[1]);
  EXPECT_DEATH(fsync_or_die(write_end.get(), "a pipe"), "cannot sync a pipe");
}

RC_GTEST_PROP(FdProperty, WhatWasWrittenDurablyReadsBack, (const std::string& content)) {
  TempFolder folder;
  write_file_durably(folder / "a", content, 0600);
  RC_ASSERT(read_file(folder / "a") == content);
}

}  // namespace
}  // namespace sk
