#include "api/mcp/tasks.h"

#include "api/common/await.h"
#include "api/common/need_interpreter.h"
#include "api/mcp/hub.h"
#include "api/mcp/tools/run_result.h"

namespace sk::api::mcp {

namespace {

using interpreter::Execution;
using interpreter::ExecutionStatus;
using interpreter::Outcome;

constexpr std::string_view kPrefix = "task_";
constexpr size_t kHexDigits = 32;
constexpr size_t kListedMax = 1000;
constexpr size_t kPageMax = 50;
constexpr int kPollMs = 1000;
constexpr std::string_view kExtension = "io.modelcontextprotocol/tasks";
constexpr std::string_view kRelated = "io.modelcontextprotocol/related-task";

struct Found {
  TaskId id;
  std::shared_ptr<interpreter::ExecutionFeed> feed;  // null when the execution ended long ago
  Execution execution;

  bool is_done() const { return execution.status == ExecutionStatus::done; }
};

[[noreturn]] void throw_unknown() {
  throw RpcError(rpc_code::invalid_params, "there is no such task", nullptr, 400);
}

void check_capability(const Turn& turn) {
  if (turn.era != Era::modern || takes_tasks(turn)) return;
  Json required = {{"extensions", {{std::string(kExtension), Json::object()}}}};
  throw RpcError(rpc_code::missing_capability,
                 "this needs the client's extension io.modelcontextprotocol/tasks",
                 {{"requiredCapabilities", std::move(required)}}, 400);
}

std::optional<Found> find(Turn& turn, const TaskId& id) {
  auto& interpreter = turn.call.app.interpreter;
  if (!interpreter.runs_code()) return std::nullopt;
  try {
    auto authority = session_authority(turn.call.app, turn.call.actor, id.session);
    if (auto running = interpreter.find_running(authority, id.session, id.execution)) {
      Found found{id, running->feed, running->asked};
      if (running->feed->finished()) found.execution = running->feed->result();
      return found;
    }
    auto execution = interpreter.find_execution(authority, id.session, id.execution);
    if (execution) return Found{id, nullptr, std::move(*execution)};
  } catch (const Error& error) {
    if (error.code() != Code::not_found && error.code() != Code::gone) throw;
  }
  return std::nullopt;
}

Found need(Turn& turn) {
  check_capability(turn);
  auto id = TaskId::parse(need_text(turn.params(), "taskId"));
  auto found = id ? find(turn, *id) : std::nullopt;
  if (!found) throw_unknown();
  return *found;
}

std::string_view status_of(Era era, const Execution& execution) {
  if (execution.status != ExecutionStatus::done) return "working";
  if (execution.outcome == Outcome::interrupted || execution.outcome == Outcome::revoked) return "cancelled";
  return era == Era::legacy && execution.outcome != Outcome::ok ? "failed" : "completed";
}

Json with_related(Json result, const TaskId& id) {
  result["_meta"][std::string(kRelated)] = {{"taskId", id.text()}};
  return result;
}

}  // namespace

std::string TaskId::text() const { return std::string(kPrefix) + session.hex() + execution.hex(); }

std::optional<TaskId> TaskId::parse(std::string_view text) {
  if (!text.starts_with(kPrefix) || text.size() != kPrefix.size() + 2 * kHexDigits) return std::nullopt;
  text.remove_prefix(kPrefix.size());
  auto session = Id::from_hex(text.substr(0, kHexDigits)), execution = Id::from_hex(text.substr(kHexDigits));
  if (!session || !execution) return std::nullopt;
  return TaskId{*session, *execution};
}

void Tasks::add(const Id& principal, const TaskId& task) {
  MutexLock lock(mutex_);
  auto& mine = by_principal_[principal];
  mine.push_front(task);
  if (mine.size() > kListedMax) mine.pop_back();
}

std::deque<TaskId> Tasks::of(const Id& principal) {
  MutexLock lock(mutex_);
  auto found = by_principal_.find(principal);
  return found == by_principal_.end() ? std::deque<TaskId>{} : found->second;
}

Json task_json(Era era, const TaskId& task, const Execution& execution) {
  auto changed_us = std::max({execution.created_us, execution.started_us, execution.ended_us});
  Json out = {{"taskId", task.text()},
              {"status", status_of(era, execution)},
              {"createdAt", to_iso8601(execution.created_us)},
              {"lastUpdatedAt", to_iso8601(changed_us)}};
  if (!execution.message.empty()) out["statusMessage"] = execution.message;
  // A task never expires, because records of executions are kept.
  out[era == Era::modern ? "ttlMs" : "ttl"] = nullptr;
  out[era == Era::modern ? "pollIntervalMs" : "pollInterval"] = kPollMs;
  return out;
}

bool takes_tasks(const Turn& turn) {
  if (turn.era == Era::legacy) return turn.params().contains("task");
  return field_in(turn.capabilities, "extensions").contains(std::string(kExtension));
}

std::optional<Json> get_task(Turn& turn) {
  auto found = need(turn);
  auto out = task_json(turn.era, found.id, found.execution);
  if (turn.era == Era::modern && found.is_done() && out["status"] == "completed")
    out["result"] = run_result(found.execution, turn.call.request.base_url).to_json();
  return out;
}

std::optional<Json> task_result(Turn& turn) {
  auto found = need(turn);
  auto base_url = turn.call.request.base_url;
  if (found.is_done()) return with_related(run_result(found.execution, base_url).to_json(), found.id);
  auto channel = turn.open_channel([] {});
  auto then = [channel, envelope = turn.envelope, base_url, id = found.id](const Execution* execution) {
    if (execution != nullptr && execution->status == ExecutionStatus::done) {
      channel->finish(envelope.wrap(with_related(run_result(*execution, base_url).to_json(), id)));
      return;
    }
    auto why = execution != nullptr ? execution->message : overdue_error().message();
    channel->finish(error_message(envelope.id, RpcError(rpc_code::server, why)));
  };
  found.feed->await(await_deadline_us(turn.call.app), std::move(then));
  return std::nullopt;
}

std::optional<Json> list_tasks(Turn& turn) {
  auto mine = turn.hub.tasks.of(turn.call.actor.principal());
  auto next = mine.begin();
  if (const auto& cursor = field_in(turn.params(), "cursor"); !cursor.is_null()) {
    auto last = cursor.is_string() ? TaskId::parse(cursor.get<std::string>()) : std::nullopt;
    next = std::find_if(mine.begin(), mine.end(),
                        [&](const TaskId& task) { return last && task.execution == last->execution; });
    if (next == mine.end()) throw RpcError(rpc_code::invalid_params, "the cursor is not valid");
    ++next;
  }
  Json tasks = Json::array();
  std::string last;
  for (; next != mine.end() && tasks.size() < kPageMax; ++next) {
    last = next->text();
    if (auto found = find(turn, *next)) tasks.push_back(task_json(turn.era, *next, found->execution));
  }
  Json out = {{"tasks", std::move(tasks)}};
  if (next != mine.end()) out["nextCursor"] = last;
  return out;
}

std::optional<Json> cancel_task(Turn& turn) {
  auto found = need(turn);
  if (found.is_done()) {
    if (turn.era == Era::modern) return Json::object();
    throw RpcError(rpc_code::invalid_params, "the task has already ended");
  }
  auto authority = session_authority(turn.call.app, turn.call.actor, found.id.session);
  turn.call.app.interpreter.cancel(authority, found.id.session, found.id.execution);
  if (turn.era == Era::modern) return Json::object();
  auto out = task_json(turn.era, found.id, found.execution);
  out["status"] = "cancelled";
  return out;
}

std::optional<Json> update_task(Turn& turn) {
  need(turn);
  return Json::object();  // Sandkeep's tasks never ask for input
}

}  // namespace sk::api::mcp
