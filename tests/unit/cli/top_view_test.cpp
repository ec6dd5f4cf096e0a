#include "cli/commands/top_view.h"

#include <gtest/gtest.h>

#include "cli/frame/columns.h"
#include "cli/frame/full_screen.h"

namespace sk::cli {
namespace {

constexpr uint64_t kMiBytes = 1 << 20, kGiBytes = 1 << 30;

Json figures(Json first, Json cpu_percent, uint64_t memory_bytes, uint64_t awake, uint64_t running) {
  first["sessions"] = {{"awake", awake}, {"asleep", 4}};
  first["executions"] = {{"running", running}, {"waiting", 1}};
  first["jobs"] = {{"running", 1}, {"waiting", 0}};
  first["memory_bytes"] = memory_bytes;
  first["cpu_percent"] = std::move(cpu_percent);
  first["processes"] = 9;
  first["kept_bytes"] = 3 * kGiBytes;
  first["requests_per_s"] = 11.5;
  return first;
}

Json one_tenant(const std::string& name) {
  return figures({{"principal", {{"id", "p_1"}, {"name", name}}}}, 100.0, 612 * kMiBytes, 1, 1);
}

Json one_session(const std::string& name) {
  return {{"id", "s_1"},
          {"name", name},
          {"workspace", {{"id", "ws_1"}, {"name", "default"}}},
          {"principal", {{"id", "p_1"}, {"name", "ada"}}},
          {"state", "running"},
          {"running_since", "2026-03-01T12:00:00Z"},
          {"awake_since", "2026-03-01T11:00:00Z"},
          {"active_at", "2026-03-01T12:00:00Z"},
          {"executions_waiting", 1},
          {"memory_bytes", 612 * kMiBytes},
          {"memory_max_bytes", kGiBytes},
          {"cpu_percent", 100.0},
          {"processes", 9}};
}

Json snapshot() {
  return {{"time", "2026-03-01T12:00:12Z"},
          {"uptime_s", 11'100},
          {"server",
           {{"memory_bytes", 180 * kMiBytes},
            {"threads", 42},
            {"cpu_percent", 3.1},
            {"connections", {{"open", 14}, {"idle", 11}, {"with_request", 3}}},
            {"requests", {{"per_s", 12.5}, {"without_thread", 1}, {"p50_ms", 3.0}, {"p99_ms", 120.4}}},
            {"body_memory", {{"used_bytes", 0}, {"max_bytes", 256 * kMiBytes}}},
            {"output_memory", {{"used_bytes", kMiBytes}, {"max_bytes", 512 * kMiBytes}}},
            {"catalog_writes", 0}}},
          {"disk",
           {{"free_bytes", 80 * kGiBytes},
            {"total_bytes", 100 * kGiBytes},
            {"reserve_bytes", kGiBytes},
            {"catalog_bytes", 20 * kMiBytes},
            {"kept_bytes", 4 * kGiBytes}}},
          {"queues",
           {{{"name", "requests"}, {"threads", 16}, {"running", 3}, {"waiting", 0}},
            {{"name", "sessions"}, {"threads", 8}, {"running", 2}, {"waiting", 1}},
            {{"name", "records"}, {"threads", 1}, {"running", 0}, {"waiting", 0}},
            {{"name", "bridge"}, {"threads", 2}, {"running", 1}, {"waiting", 0}}}},
          {"all", figures({{"sessions_awake_max", 64}}, 101.0, 812 * kMiBytes, 2, 1)},
          {"tenants", Json::array({one_tenant("ada")})},
          {"other_tenants", figures({{"count", 3}}, nullptr, 0, 0, 0)},
          {"sessions", Json::array({one_session("analysis")})},
          {"other_sessions",
           {{"count", 0},
            {"executions", {{"running", 0}, {"waiting", 0}}},
            {"memory_bytes", 0},
            {"cpu_percent", nullptr},
            {"processes", 0}}}};
}

std::vector<std::string> texts_of(const std::vector<TopLine>& lines) {
  std::vector<std::string> out;
  for (const auto& line : lines) out.push_back(line.text);
  return out;
}

TEST(TopView, DescribesServerTenantsAndSessions) {
  std::vector<std::string> expected = {
      "up 3 h 5 min   12.5 requests/s (half within 3.0 ms, 99% within 120 ms)   14 connections, 3 with a "
      "request",
      "server     180 MiB, 3.1% CPU, 42 threads   bodies 0 B of 256 MiB   outputs 1.0 MiB of 512 MiB",
      "sandboxes  812 MiB, 101.0% CPU, 9 processes   2 of 64 sessions awake, 4 asleep   executions: 1 "
      "running, 1 waiting",
      "disk       80.0 GiB free of 100 GiB, 1.0 GiB reserved   catalog 20.0 MiB   kept 4.0 GiB",
      "queues     requests 3/16   sessions 2/8 +1 waiting   bridge 1/2",
      "",
      "TENANT     CPU%   MEMORY  PROCESSES  AWAKE  ASLEEP  RUNNING  WAITING  REQUESTS/S     KEPT",
      "ada       100.0  612 MiB          9      1       4        1        1        11.5  3.0 GiB",
      "3 others      -      0 B          9      0       4        0        1        11.5  3.0 GiB",
      "",
      "SESSION   TENANT  WORKSPACE  STATE    SINCE   CPU%   MEMORY  PROCESSES  WAITING  LAST USE  ID",
      "analysis  ada     default    running   12 s  100.0  612 MiB          9        1      12 s  s_1",
  };
  auto lines = describe_top(snapshot(), {});
  EXPECT_EQ(texts_of(lines), expected);
  EXPECT_EQ(lines[6].style, Style::bold);
  EXPECT_EQ(lines[7].style, Style::plain);
}

TEST(TopView, NoLineIsWiderThanTheTerminal) {
  auto top = snapshot();
  top["tenants"].push_back(one_tenant("数据数据数据数据数据数据数据数据"));
  top["tenants"].push_back(one_tenant(std::string(1000, 'x')));
  for (size_t width : {1u, 20u, 80u, 100u, 300u})
    for (bool utf8 : {false, true})
      for (const auto& line : texts_of(describe_top(top, {.width = width, .utf8 = utf8})))
        EXPECT_LE(display_width(line), width) << line;
}

TEST(TopView, ANarrowTerminalShowsFewerColumnsAndMarksWhatIsCut) {
  auto lines = texts_of(describe_top(snapshot(), {.width = 80}));
  EXPECT_EQ(lines[2].back(), '~');
  EXPECT_EQ(lines[6], "TENANT     CPU%   MEMORY  AWAKE  RUNNING  WAITING  REQUESTS/S     KEPT");
  EXPECT_EQ(lines[10], "SESSION   TENANT  WORKSPACE  STATE    SINCE   CPU%   MEMORY  PROCESSES  WAITING");
  EXPECT_EQ(lines[11], "analysis  ada     default    running   12 s  100.0  612 MiB          9        1");
  auto few = texts_of(describe_top(snapshot(), {.width = 30}));
  EXPECT_EQ(few[6], "TENANT     CPU%   MEMORY");
  EXPECT_EQ(few[10], "SESSION   TENANT   CPU%");
}

TEST(TopView, LongNamesAreCutAndMarked) {
  auto top = snapshot();
  top["tenants"] = Json::array({one_tenant(std::string(100, 'x'))});
  EXPECT_TRUE(texts_of(describe_top(top, {.width = 60}))[7].starts_with("xxxxxxxxx~  ")) << "a sixth";
  EXPECT_TRUE(texts_of(describe_top(top, {.width = 60, .utf8 = true}))[7].starts_with("xxxxxxxxx…  "));
}

TEST(TopView, NamesCannotControlTheTerminal) {
  auto top = snapshot();
  std::string hostile = "\x1b[2J\x07\n\u202Eevil";
  top["tenants"] = Json::array({one_tenant(hostile)});
  top["sessions"] = Json::array({one_session(hostile)});
  top["sessions"][0]["workspace"]["name"] = hostile;
  top["sessions"][0]["principal"]["name"] = hostile;
  top["sessions"][0]["state"] = hostile;
  top["queues"][0]["name"] = hostile;
  std::string all;
  for (const auto& line : texts_of(describe_top(top, {.utf8 = true}))) all += line;
  for (char c : all) EXPECT_FALSE(static_cast<unsigned char>(c) < 0x20 || c == 0x7f) << all;
  EXPECT_EQ(all.find("\u202E"), std::string::npos);
  EXPECT_NE(all.find("\\x1b[2J\\x07"), std::string::npos);
}

TEST(TopView, WithoutANameAnIdIsShown) {
  auto top = snapshot();
  top["sessions"][0]["name"] = "";
  EXPECT_TRUE(texts_of(describe_top(top, {})).back().starts_with("s_1 "));
}

TEST(TopView, KnowsWhetherThereAreRates) {
  auto top = snapshot();
  EXPECT_TRUE(has_rates(top));
  top["server"]["cpu_percent"] = nullptr;
  EXPECT_FALSE(has_rates(top));
}

std::vector<KeyPress> keys_in(std::string bytes) {
  std::vector<KeyPress> out;
  while (auto key = take_key(bytes)) out.push_back(*key);
  return out;
}

TEST(Keys, AreLettersAndArrows) {
  using Kind = KeyPress::Kind;
  EXPECT_EQ(keys_in("qM"), (std::vector<KeyPress>{{Kind::character, 'q'}, {Kind::character, 'M'}}));
  EXPECT_EQ(keys_in("\x1b[A\x1b[B\x1bOC\x1b[1;5D"),
            (std::vector<KeyPress>{{Kind::up}, {Kind::down}, {Kind::right}, {Kind::left}}));
}

TEST(Keys, ThatAreUnknownAreSkipped) {
  using Kind = KeyPress::Kind;
  EXPECT_EQ(keys_in("\x01\n \x1b[15~\xc3\xa4\x1bxq"),
            (std::vector<KeyPress>{{Kind::character, 'x'}, {Kind::character, 'q'}}));
}

TEST(Keys, MayArriveInPieces) {
  std::string bytes = "\x1b";
  EXPECT_EQ(take_key(bytes), std::nullopt);
  bytes += "[";
  EXPECT_EQ(take_key(bytes), std::nullopt);
  bytes += "C";
  EXPECT_EQ(take_key(bytes), KeyPress{KeyPress::Kind::right});
  EXPECT_EQ(bytes, "");
  bytes = "\x1b[" + std::string(100, '1');
  EXPECT_EQ(take_key(bytes), std::nullopt);
  EXPECT_EQ(bytes, "") << "no terminal sends such a long one";
}

}  // namespace
}  // namespace sk::cli
