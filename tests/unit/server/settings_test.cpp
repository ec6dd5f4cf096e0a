#include "server/settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <set>

#include "base/error.h"
#include "base/fd.h"
#include "server/documents.h"
#include "support/expect_error.h"
#include "support/temp_folder.h"

namespace sk::server {
namespace {

using test::expect_error;
using test::TempFolder;
using testing::HasSubstr;

// Loads with an own data folder, so that no file of the machine's user is read.
class SettingsTest : public testing::Test {
 protected:
  Settings load(std::vector<std::string> arguments = {}, Environment environment = {}) {
    environment.emplace("HOME", folder_.path());
    return load_settings(arguments, environment);
  }
  std::string refused(std::vector<std::string> arguments, Environment environment = {}) {
    return expect_error(Code::bad_request, [&] { load(arguments, environment); });
  }
  std::string write_file(const std::string& content, unsigned mode = 0600) {
    auto path = folder_ / "settings.toml";
    write_file_durably(path, content, mode);
    return path;
  }
  std::string refused_file(const std::string& content) { return refused({"--config", write_file(content)}); }

  TempFolder folder_;
};

TEST_F(SettingsTest, NothingNeedsToBeSet) {
  auto settings = load();
  EXPECT_EQ(settings.listen, (Address{"127.0.0.1", 8420}));
  EXPECT_EQ(settings.data, folder_ / ".local/share/sandkeep");
  EXPECT_EQ(settings.quota_default_bytes, 50ull << 30);
  EXPECT_EQ(settings.lock_ttl_max_s, 3600);
  EXPECT_EQ(settings.log_level, log::Level::info);
  EXPECT_EQ(settings.tls, Tls::off);
  EXPECT_TRUE(settings.trusted_proxies.empty());
  EXPECT_TRUE(settings.root_key.empty());
}

TEST_F(SettingsTest, FlagsVariablesAndFileSayTheSame) {
  auto by_flag = load({"--public-url", "https://a.example", "--json-body-bytes-max=8 MiB", "--tls",
                       "self-signed", "--log-requests=off"});
  auto by_variable = load({}, {{"SANDKEEP_PUBLIC_URL", "https://a.example"},
                               {"SANDKEEP_JSON_BODY_BYTES_MAX", "8 MiB"},
                               {"SANDKEEP_TLS", "self-signed"},
                               {"SANDKEEP_LOG_REQUESTS", "off"}});
  auto by_file =
      load({"--config", write_file("public_url = 'https://a.example'\njson_body_bytes_max = 8388608\n"
                                   "tls = 'self-signed'\nlog-requests = false\n")});
  for (const auto& settings : {by_flag, by_variable, by_file}) {
    EXPECT_EQ(settings.public_url, "https://a.example");
    EXPECT_EQ(settings.json_body_bytes_max, 8u << 20);
    EXPECT_EQ(settings.tls, Tls::self_signed);
    EXPECT_FALSE(settings.log_requests);
  }
}

TEST_F(SettingsTest, FlagWinsOverVariableOverFileOverDefault) {
  auto file = write_file("idle_timeout_s = 11\nevent_heartbeat_s = 11\nsession_idle_s = 11\n");
  Environment environment{
      {"SANDKEEP_IDLE_TIMEOUT_S", "22"}, {"SANDKEEP_EVENT_HEARTBEAT_S", "22"}, {"SANDKEEP_CONFIG", file}};
  auto settings = load({"--idle-timeout-s", "33"}, environment);
  EXPECT_EQ(settings.idle_timeout_s, 33);
  EXPECT_EQ(settings.event_heartbeat_s, 22);
  EXPECT_EQ(settings.session_idle_s, 11);
  EXPECT_EQ(settings.drain_timeout_s, 30);
}

TEST_F(SettingsTest, TheDataFoldersOwnFileIsReadUnlessAnotherIsNamed) {
  write_file_durably(folder_ / "sandkeep.toml", "worker_threads = 7\n", 0600);
  EXPECT_EQ(load({"--data", folder_.path()}).worker_threads, 7u);
  EXPECT_EQ(load({"--data", folder_.path(), "--config", write_file("")}).worker_threads, 48u);
}

TEST_F(SettingsTest, AnUnknownSettingIsAnErrorThatNamesTheNearest) {
  EXPECT_THAT(refused({"--lisen", "x"}), HasSubstr("--listen"));
  EXPECT_THAT(refused({"--quota", "1"}), HasSubstr("--quota-default-bytes"));
  EXPECT_THAT(refused({"--tls-certificate", "x"}), HasSubstr("--tls-cert"));
  EXPECT_THAT(refused({}, {{"SANDKEEP_PUBLIC_ULR", "x"}}), HasSubstr("SANDKEEP_PUBLIC_URL"));
  auto message = refused_file("\nworker_thread = 3\n");
  EXPECT_THAT(message, HasSubstr("worker_threads"));
  EXPECT_THAT(message, HasSubstr("line 2"));
}

TEST_F(SettingsTest, ABadValueSaysWhatIsExpected) {
  EXPECT_THAT(refused({"--worker-threads", "0"}), HasSubstr("from 1 to 1024"));
  EXPECT_THAT(refused({"--worker-threads", "many"}), HasSubstr("--worker-threads: 'many'"));
  EXPECT_THAT(refused({"--header-bytes-max", "1 TiB"}), HasSubstr("from 1 KiB to 1 MiB"));
  EXPECT_THAT(refused({"--lock-ttl-max-s", "8 d"}), HasSubstr("from 1 s to 7 d"));
  EXPECT_THAT(refused({"--log-level", "loud"}), HasSubstr("debug|info|warn|error"));
  EXPECT_THAT(refused({"--log-requests=perhaps"}), HasSubstr("on or off"));
  EXPECT_THAT(refused({}, {{"SANDKEEP_LISTEN", "8080"}}), HasSubstr("SANDKEEP_LISTEN: '8080'"));
  EXPECT_THAT(refused_file("listen = 8080"), HasSubstr("line 1: listen: '8080'"));
}

TEST_F(SettingsTest, FlagsNeedTheirValueOnce) {
  EXPECT_THAT(refused({"--data"}), HasSubstr("needs a value"));
  EXPECT_THAT(refused({"--data", "a", "--data=b"}), HasSubstr("twice"));
  EXPECT_THAT(refused({"serve"}), HasSubstr("unexpected argument 'serve'"));
  EXPECT_THAT(refused({"--"}), HasSubstr("unexpected argument"));
  EXPECT_THAT(refused({"-d", "x"}), HasSubstr("unexpected argument"));
}

TEST_F(SettingsTest, ASwitchMayStandAlone) {
  EXPECT_TRUE(load({"--log-requests"}, {{"SANDKEEP_LOG_REQUESTS", "off"}}).log_requests);
  EXPECT_FALSE(load({"--log-requests", "off"}).log_requests);
  EXPECT_TRUE(load({"--log-requests", "--listen", "127.0.0.1:1"}).log_requests);
  EXPECT_THAT(refused({"--log-requests", "perhaps"}), HasSubstr("on or off"));
}

TEST_F(SettingsTest, ListsAreSeparatedByCommasRepeatedOrArrays) {
  std::vector<std::string> expected{"10.0.0.0/8", "::1"};
  EXPECT_EQ(load({"--trusted-proxies", "10.0.0.0/8, ::1"}).trusted_proxies, expected);
  EXPECT_EQ(load({"--trusted-proxies", "10.0.0.0/8", "--trusted-proxies=::1"}).trusted_proxies, expected);
  EXPECT_EQ(load({"--config", write_file("trusted_proxies = ['10.0.0.0/8', '::1']")}).trusted_proxies,
            expected);
}

TEST_F(SettingsTest, AddressesNetworksUrlsAndOriginsAreChecked) {
  EXPECT_EQ(load({"--listen", "[::1]:0"}).listen, (Address{"::1", 0}));
  EXPECT_EQ(load({"--listen", "localhost:65535"}).listen, (Address{"localhost", 65535}));
  for (const char* bad :
       {"::1:80", "[::1]", ":80", "host:", "host:65536", "host:-1", "a b:1", "[host]:1", "127.0.0.1"})
    refused({"--listen", bad});
  for (const char* bad : {"10.0.0.0/33", "::1/129", "300.1.1.1", "proxy", "10.0.0.0/", "10.0.0.0/8/8"})
    refused({"--trusted-proxies", bad});
  EXPECT_EQ(load({"--public-url", "https://a.example/files//"}).public_url, "https://a.example/files");
  for (const char* bad :
       {"a.example", "ftp://a", "https://", "https://a?x", "https://a#x", "https://u:p@a", "https://a b"})
    refused({"--public-url", bad});
  EXPECT_EQ(load({"--cors-origins", "*"}).cors_origins, std::vector<std::string>{"*"});
  for (const char* bad : {"app.example", "https://a/path", "https://a/"}) refused({"--cors-origins", bad});
}

TEST_F(SettingsTest, TimesAreWrittenWithAnyUnit) {
  EXPECT_EQ(load({"--session-idle-s", "20 min"}).session_idle_s, 1200);
  EXPECT_EQ(load({"--session-idle-s", "2m"}).session_idle_s, 120);
  EXPECT_EQ(load({"--session-idle-s", "12h"}).session_idle_s, 43'200);
  EXPECT_EQ(load({"--trash-retention-s", "30 d"}).trash_retention_s, 30 * 86'400);
  for (const char* bad : {"", "s", "1 week", "-5", "1.5 h", "99999999999999999999", "18446744073709551615 d"})
    refused({"--trash-retention-s=" + std::string(bad)});
}

TEST_F(SettingsTest, AnEmptyVariableIsNotSet) {
  EXPECT_EQ(load({}, {{"SANDKEEP_WORKER_THREADS", ""}}).worker_threads, 48u);
}

TEST_F(SettingsTest, UnrelatedVariablesAreIgnored) {
  EXPECT_NO_THROW(load({}, {{"PATH", "/bin"},
                            {"SANDKEEPER", "x"},
                            {"SANDKEEP_SERVER", "http://h"},
                            {"SANDKEEP_KEY", "k"},
                            {"SANDKEEP_SERVICE_HOST", "10.0.0.1"},
                            {"SANDKEEP_PORT", "tcp://10.0.0.1:80"},
                            {"SANDKEEP_PORT_80_TCP_ADDR", "10.0.0.1"}}));
  refused({}, {{"SANDKEEP_PORT", "8080"}});
}

TEST_F(SettingsTest, TheRootKeyComesFromTheEnvironmentOrAPrivateFileButNeverFromAFlag) {
  EXPECT_EQ(load({}, {{"SANDKEEP_ROOT_KEY", "sk-1"}}).root_key, "sk-1");
  EXPECT_THAT(refused({"--root-key", "sk-1"}), HasSubstr("not a flag"));
  EXPECT_EQ(load({"--config", write_file("root_key = 'sk-2'")}).root_key, "sk-2");
  refused({"--config", write_file("root_key = 'sk-2'", 0644)});
  write_file_durably(folder_ / "secret", "sk-3\n", 0600);
  EXPECT_EQ(load({"--root-key-file", folder_ / "secret"}).root_key, "sk-3");
  refused({"--root-key-file", folder_ / "secret"}, {{"SANDKEEP_ROOT_KEY", "sk-1"}});
  write_file_durably(folder_ / "secret", "\nsk-3\n", 0600);
  refused({"--root-key-file", folder_ / "secret"});
}

TEST_F(SettingsTest, ABadSecretIsNotRepeatedInTheMessage) {
  EXPECT_THAT(refused({}, {{"SANDKEEP_ROOT_KEY", "two words"}}), testing::Not(HasSubstr("two words")));
}

TEST_F(SettingsTest, SettingsThatContradictEachOtherAreRefused) {
  EXPECT_THAT(refused({"--tls-cert", "c.pem"}), HasSubstr("tls_key"));
  EXPECT_THAT(refused({"--tls-cert", "c", "--tls-key", "k", "--tls", "self-signed"}), HasSubstr("exclude"));
  EXPECT_THAT(refused({"--lock-ttl-min-s", "2 h"}), HasSubstr("lock_ttl_max_s"));
  EXPECT_THAT(refused({"--session-memory-default-bytes", "8 GiB"}), HasSubstr("session_memory_max_bytes"));
  EXPECT_THAT(refused({"--execution-timeout-default-s", "2 h"}), HasSubstr("execution_timeout_max_s"));
  EXPECT_THAT(refused({"--data="}), HasSubstr("data"));
}

TEST_F(SettingsTest, FilesThatAreNotSettingsAreRefusedWithTheirLine) {
  EXPECT_THAT(refused_file("\nlisten = "), HasSubstr("line 2"));
  EXPECT_THAT(refused_file("[http]\nlisten = 'a:1'"), HasSubstr("tables"));
  EXPECT_THAT(refused_file("idle_timeout_s = 1.5"), HasSubstr("idle_timeout_s"));
  EXPECT_THAT(refused_file("idle_timeout_s = 2026-01-01"), HasSubstr("idle_timeout_s"));
  EXPECT_THAT(refused_file("trusted_proxies = [1]"), HasSubstr("list of strings"));
  EXPECT_THAT(refused_file("config = 'other.toml'"), HasSubstr("flag or a variable"));
  EXPECT_THAT(refused_file("listen = 'a:1'\nlisten = 'a:2'"), HasSubstr("line 2"));
  EXPECT_THAT(refused_file("data = \"a\\u0000b\""), HasSubstr("zero byte"));
  EXPECT_THAT(refused({"--config", folder_ / "missing.toml"}), HasSubstr("missing.toml"));
  write_file_durably(folder_ / "sandkeep.toml", "data = '/elsewhere'\n", 0600);
  EXPECT_THAT(refused({"--data", folder_.path()}), HasSubstr("data folder"));
}

TEST_F(SettingsTest, WithoutAHomeTheDataFolderMustBeNamed) {
  std::vector<std::string> none;
  std::vector<std::string> named{"--data", "/var/lib/sandkeep-test"};
  expect_error(Code::bad_request, [&] { load_settings(none, {}); });
  EXPECT_EQ(load_settings(named, {}).data, "/var/lib/sandkeep-test");
}

TEST_F(SettingsTest, OnlyPathsKnowTheHomeFolder) {
  EXPECT_EQ(load({"--tls-cert", "~/c.pem", "--tls-key", "/k.pem"}).tls_cert, folder_ / "c.pem");
  EXPECT_EQ(load({"--runtime-dirs", "~/lib,/opt/lib"}).runtime_dirs,
            (std::vector<std::string>{folder_ / "lib", "/opt/lib"}));
  EXPECT_EQ(load({}, {{"SANDKEEP_ROOT_KEY", "~/key"}}).root_key, "~/key");
}

TEST(SettingsTable, EveryRowIsDocumentedAndNamedOnce) {
  std::set<std::string_view> names;
  auto markdown = describe_settings_markdown();
  auto help = describe_settings_help();
  for (const auto& setting : all_settings()) {
    EXPECT_TRUE(names.insert(setting.name).second) << setting.name;
    EXPECT_TRUE(setting.about.ends_with('.')) << setting.name;
    EXPECT_FALSE(setting.expected.empty()) << setting.name;
    EXPECT_THAT(markdown, HasSubstr("| `" + std::string(setting.name) + "` |"));
    EXPECT_THAT(help, HasSubstr(setting.is_flag ? setting.flag() + " " : setting.variable() + "="));
  }
}

TEST(ErrorsDocument, NamesEveryCode) {
  auto document = describe_errors_markdown();
  for (const auto& code : all_codes())
    EXPECT_THAT(document, HasSubstr("| `" + std::string(code.name) + "` |"));
}

TEST(SettingsTable, NamesAndSizesEndInTheirUnitOrLimit) {
  for (const auto& setting : all_settings()) {
    auto has = [&](std::string_view part) { return setting.name.find(part) != std::string_view::npos; };
    EXPECT_TRUE(setting.value != "SIZE" || has("_bytes")) << setting.name;
    EXPECT_TRUE(setting.value != "TIME" || setting.name.ends_with("_s")) << setting.name;
  }
}

TEST(SettingsTable, FlagAndVariableFollowFromTheName) {
  const auto& settings = all_settings();
  auto it = std::find_if(settings.begin(), settings.end(),
                         [](const auto& s) { return s.name == "lock_ttl_max_s"; });
  ASSERT_NE(it, settings.end());
  EXPECT_EQ(it->flag(), "--lock-ttl-max-s");
  EXPECT_EQ(it->variable(), "SANDKEEP_LOCK_TTL_MAX_S");
}

}  // namespace
}  // namespace sk::server
