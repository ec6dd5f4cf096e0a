// The figures for operators: bounds and order of their rows, and who may see them.
#include "api/common/top.h"

#include <gmock/gmock.h>

#include "api/rest/top_gauges.h"
#include "support/expect_error.h"
#include "unit/api/app_fixture.h"

namespace sk::api {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

Id row_id(uint8_t number) {
  Id id;
  id.bytes[15] = static_cast<std::byte>(number);
  return id;
}

TenantFigures tenant_row(uint8_t number, double cpu_percent, uint64_t memory_bytes, double requests_per_s) {
  TenantFigures row;
  row.principal = row_id(number);
  row.sessions_awake = 1;
  row.cpu_percent = cpu_percent;
  row.memory_bytes = memory_bytes;
  row.requests_per_s = requests_per_s;
  return row;
}

SessionFigures session_row(uint8_t number, uint64_t memory_bytes) {
  SessionFigures row;
  row.load.id = row_id(number);
  row.load.usage.memory_bytes = memory_bytes;
  row.load.usage.processes = 2;
  row.load.running_since_us = number;
  row.load.waiting = 3;
  return row;
}

std::vector<Id> principals_of(const TopRows& rows) {
  std::vector<Id> out;
  for (const auto& row : rows.tenants) out.push_back(row.principal);
  return out;
}

TEST(LargestRows, AreThoseOfTheChosenOrder) {
  TopSnapshot snapshot;
  snapshot.tenants = {tenant_row(1, 10, 300, 5), tenant_row(2, 30, 200, 1), tenant_row(3, 20, 100, 9)};
  EXPECT_THAT(principals_of(largest(snapshot, TopSort::cpu, 2)), ElementsAre(row_id(2), row_id(3)));
  EXPECT_THAT(principals_of(largest(snapshot, TopSort::memory, 2)), ElementsAre(row_id(1), row_id(2)));
  EXPECT_THAT(principals_of(largest(snapshot, TopSort::requests, 2)), ElementsAre(row_id(3), row_id(1)));
}

TEST(LargestRows, AreAtMostTheLimitAndTheRestIsSummed) {
  TopSnapshot snapshot;
  snapshot.other_tenants = 7;
  snapshot.others.kept_bytes = 1000;
  for (uint8_t i = 1; i <= 100; ++i) {
    snapshot.tenants.push_back(tenant_row(i, i, 10, 1));
    snapshot.sessions.push_back(session_row(i, i));
  }
  auto rows = largest(snapshot, TopSort::cpu, 3);
  EXPECT_THAT(principals_of(rows), ElementsAre(row_id(100), row_id(99), row_id(98)));
  EXPECT_EQ(rows.other_tenants, 7u + 97u);
  EXPECT_EQ(rows.others.memory_bytes, 970u);
  EXPECT_EQ(rows.others.sessions_awake, 97u);
  EXPECT_EQ(rows.others.kept_bytes, 1000u);
  EXPECT_DOUBLE_EQ(*rows.others.cpu_percent, 97.0 * 98 / 2);
  ASSERT_EQ(rows.sessions.size(), 3u);
  EXPECT_EQ(rows.sessions[0].load.id, row_id(100)) << "without CPU figures, memory decides";
  EXPECT_EQ(rows.other_sessions, 97u);
  EXPECT_EQ(rows.in_other_sessions.processes, 2u * 97);
  EXPECT_EQ(rows.in_other_sessions.executions_running, 97u);
  EXPECT_EQ(rows.in_other_sessions.executions_waiting, 3u * 97);
  EXPECT_EQ(rows.in_other_sessions.cpu_percent, std::nullopt);
}

TEST(LargestRows, ThatAreEqualKeepTheirOrder) {
  TopSnapshot snapshot;
  for (uint8_t number : {3, 1, 2}) snapshot.tenants.push_back(tenant_row(number, 5, 5, 5));
  EXPECT_THAT(principals_of(largest(snapshot, TopSort::memory, 10)),
              ElementsAre(row_id(1), row_id(2), row_id(3)));
}

TEST(TopGauges, OfPrincipalsHaveBoundedLabels) {
  TopSnapshot snapshot;
  for (uint8_t i = 1; i <= 100; ++i) snapshot.tenants.push_back(tenant_row(i, 1, i, 1));
  auto rows = largest(snapshot, TopSort::memory, rest::kPrincipalLabelsMax);
  std::string text;
  rest::append_principal_gauges(text, rows, {{row_id(100), "ada\"\n"}});
  EXPECT_THAT(text, HasSubstr("name=\"ada\\\"\\n\"} 100\n"));
  size_t lines = 0;
  for (auto line : split(text, '\n')) lines += line.starts_with("sandkeep_principal_sandbox_memory_bytes{");
  EXPECT_EQ(lines, rest::kPrincipalLabelsMax + 1);
  EXPECT_THAT(text,
              HasSubstr("sandkeep_principal_sandbox_memory_bytes{principal=\"others\",name=\"\"} 3240\n"))
      << "1 + … + 80";
}

class TopRoute : public AppTest {};

TEST_F(TopRoute, ShowsTenantsByName) {
  auto top = json_of(call("GET", "/api/v1/top"));
  ASSERT_EQ(top["tenants"].size(), 1u);
  EXPECT_EQ(top["tenants"][0]["principal"]["name"], "admin");
  EXPECT_EQ(top["other_tenants"]["count"], 0);
  EXPECT_GT(top["server"]["memory_bytes"].get<uint64_t>(), 0u);
  EXPECT_GT(top["server"]["threads"].get<uint64_t>(), 0u);
  EXPECT_GT(top["disk"]["catalog_bytes"].get<uint64_t>(), 0u);
  EXPECT_TRUE(top["sessions"].empty());
}

TEST_F(TopRoute, GathersAtMostOnceASecond) {
  auto first = app.top.read();
  EXPECT_EQ(app.top.read(), first) << "the same second";
}

TEST_F(TopRoute, CountsRequestsOfPrincipals) {
  for (int i = 0; i < 20; ++i) call("GET", "/api/v1/me");
  auto snapshot = app.top.read();
  ASSERT_EQ(snapshot->tenants.size(), 1u);
  EXPECT_GT(snapshot->tenants[0].requests_per_s, 0);
  EXPECT_EQ(snapshot->requests_per_s, snapshot->tenants[0].requests_per_s);
}

TEST_F(TopRoute, ShowsWhatTenantsKeep) {
  put("a.txt", std::string(10'000, 'x'));
  auto top = json_of(call("GET", "/api/v1/top?sort=memory&limit=1"));
  EXPECT_EQ(top["tenants"][0]["kept_bytes"], 10'000);
  EXPECT_EQ(top["all"]["kept_bytes"], 10'000);
}

TEST_F(TopRoute, RefusesOtherOrdersAndLimits) {
  test::expect_error(Code::bad_request, [&] { call("GET", "/api/v1/top?sort=name"); });
  test::expect_error(Code::bad_request, [&] { call("GET", "/api/v1/top?limit=0"); });
  test::expect_error(Code::bad_request, [&] { call("GET", "/api/v1/top?limit=201"); });
}

TEST_F(TopRoute, IsForAdministrators) {
  auto admin = keep.access().authenticate("a-root-key-for-tests");
  auto person = keep.access().create_principal(admin, "confidential-ada", "person");
  auto key =
      keep.access().create_key(admin, person.id, {.name = "laptop", .only_workspace = {}, .expires_us = {}});
  std::vector<std::pair<std::string, std::string>> hers = {{"Authorization", "Bearer " + key.secret}};
  test::expect_error(Code::forbidden, [&] { call("GET", "/api/v1/top", "", hers); });
  // Names are in /metrics for administrators only.
  auto text_of = [](const http::Reply& reply) { return std::get<std::string>(reply.body); };
  EXPECT_THAT(text_of(call("GET", "/metrics")), HasSubstr("name=\"confidential-ada\""));
  auto text = text_of(call("GET", "/metrics", "", hers));
  EXPECT_THAT(text, HasSubstr("sandkeep_disk_free_bytes "));
  EXPECT_THAT(text, Not(HasSubstr("confidential")));
  EXPECT_THAT(text, Not(HasSubstr("sandkeep_principal_")));
  test::expect_error(Code::unauthorized, [&] {
    call("GET", "/metrics", "", {{"Authorization", "Bearer wrong-key-of-a-stranger"}});
  });
}

}  // namespace
}  // namespace sk::api
