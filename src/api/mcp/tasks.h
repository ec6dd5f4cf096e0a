// Runs that outlive their request, as the protocol's tasks. A task is an execution: its id names both, so
// that it is found again after a restart, as long as the execution's record is there.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "api/mcp/turn.h"
#include "interpreter/interpreter.h"

namespace sk::api::mcp {

struct TaskId {
  Id session, execution;

  std::string text() const;
  // nullopt for what is no id of a task.
  static std::optional<TaskId> parse(std::string_view text);
};

// Which executions were started as tasks, newest first, for tasks/list. Any thread.
class Tasks {
 public:
  void add(const Id& principal, const TaskId& task);
  std::deque<TaskId> of(const Id& principal);

 private:
  std::mutex mutex_;
  std::map<Id, std::deque<TaskId>> by_principal_;  // guarded by mutex_
};

// The task as each era writes it, without its result.
Json task_json(Era era, const TaskId& task, const interpreter::Execution& execution);
// Whether the client understands an answer that is a task instead of a result.
bool takes_tasks(const Turn& turn);

// tasks/get, tasks/result, tasks/list, tasks/cancel, tasks/update. nullopt: answered later.
std::optional<Json> get_task(Turn& turn);
std::optional<Json> task_result(Turn& turn);
std::optional<Json> list_tasks(Turn& turn);
std::optional<Json> cancel_task(Turn& turn);
std::optional<Json> update_task(Turn& turn);

}  // namespace sk::api::mcp
