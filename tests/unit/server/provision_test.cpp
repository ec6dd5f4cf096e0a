#include <gtest/gtest.h>

#include <filesystem>

#include "base/fd.h"
#include "server/first_key.h"
#include "server/tls_files.h"
#include "support/keep_options.h"
#include "support/temp_folder.h"

namespace sk::server {
namespace {

// A new volume has a folder of its own in it.
TEST(FirstKey, IsMadeOnceAndWrittenDownWhateverElseIsInTheFolder) {
  test::TempFolder folder;
  std::filesystem::create_directory(folder.path() + "/lost+found");
  SystemClock clock;
  Metrics metrics;
  workspace::Keep keep(test::keep_options(folder.path()), clock, metrics);
  auto made = ensure_first_key(keep, {});
  ASSERT_TRUE(made.made);
  EXPECT_EQ(read_file(made.file), *made.made + "\n");
  EXPECT_TRUE(keep.access().authenticate(*made.made).is_admin());
  EXPECT_FALSE(ensure_first_key(keep, {}).made);
  std::filesystem::remove(made.file);
  EXPECT_TRUE(ensure_first_key(keep, {}).file.empty());
}

TEST(TlsFiles, TheNamesAreThoseThatClientsMayUse) {
  Settings settings;
  settings.listen = {"0.0.0.0", 8420};
  settings.public_url = "https://keep.example.org:8443/base";
  EXPECT_EQ(server_names(settings, "box"),
            (std::vector<std::string>{"localhost", "127.0.0.1", "::1", "box", "keep.example.org"}));
  settings.listen = {"10.0.0.7", 8420};
  settings.public_url = "https://[2001:db8::1]/";
  EXPECT_EQ(server_names(settings, ""),
            (std::vector<std::string>{"localhost", "127.0.0.1", "::1", "10.0.0.7", "2001:db8::1"}));
}

TEST(TlsFiles, AnAuthorityIsMadeOnceAndACertificateAgainWhenANameIsNew) {
  test::TempFolder folder;
  SystemClock clock;
  Settings settings;
  settings.tls = Tls::self_signed;
  auto first = prepare_tls(settings, folder.path(), clock);
  auto authority = read_file(first.authority_file);
  auto second = prepare_tls(settings, folder.path(), clock);
  EXPECT_EQ(second.cert_pem, first.cert_pem);
  EXPECT_EQ(second.key_pem, first.key_pem);
  settings.public_url = "https://keep.example.org";
  auto third = prepare_tls(settings, folder.path(), clock);
  EXPECT_NE(third.cert_pem, first.cert_pem);
  EXPECT_EQ(read_file(third.authority_file), authority);
}

TEST(TlsFiles, ACertificateIsMadeAgainBeforeItEnds) {
  test::TempFolder folder;
  Settings settings;
  settings.tls = Tls::self_signed;
  ManualClock clock(1'900'000'000 * kSecondUs);
  auto first = prepare_tls(settings, folder.path(), clock);
  clock.advance_us(300ll * 86'400 * kSecondUs);
  EXPECT_EQ(prepare_tls(settings, folder.path(), clock).cert_pem, first.cert_pem);
  clock.advance_us(80ll * 86'400 * kSecondUs);
  EXPECT_NE(prepare_tls(settings, folder.path(), clock).cert_pem, first.cert_pem);
}

}  // namespace
}  // namespace sk::server
