// Runs that outlive their request, as the protocol's tasks. A task is an execution and shares its id. It can
// be found after a restart, as long as the execution's record exists.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "api/mcp/turn.h"
#include "base/mutex.h"
#include "interpreter/interpreter.h"

namespace sk::api::mcp {

struct TaskId {
  Id session, execution;

  std::string text() const;
  // Returns nullopt when the text is not a task id.
  static std::optional<TaskId> parse(std::string_view text);
};

// Executions that were started as tasks, newest first, for tasks/list. Any thread.
class Tasks {
 public:
  void add(const Id& principal, const TaskId& task);
  std::deque<TaskId> of(const Id& principal);

 private:
  Mutex mutex_;
  std::map<Id, std::deque<TaskId>> by_principal_ SK_GUARDED_BY(mutex_);
};

// Serializes the task for an era, without its result.
Json task_json(Era era, const TaskId& task, const interpreter::Execution& execution);
// Returns whether the client accepts a task in place of a result.
bool takes_tasks(const Turn& turn);

// tasks/get, tasks/result, tasks/list, tasks/cancel, tasks/update. nullopt: the channel answers later.
std::optional<Json> get_task(Turn& turn);
std::optional<Json> task_result(Turn& turn);
std::optional<Json> list_tasks(Turn& turn);
std::optional<Json> cancel_task(Turn& turn);
std::optional<Json> update_task(Turn& turn);

}  // namespace sk::api::mcp
