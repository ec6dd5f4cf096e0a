// Sessions and executions as values.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "interpreter/copy/capture.h"
#include "interpreter/outcome.h"
#include "interpreter/run/output.h"
#include "interpreter/session_key.h"
#include "workspace/types.h"

namespace sk::interpreter {

struct SessionInfo {
  Id id;
  Id workspace;
  std::string folder;  // in the workspace; code sees it as /mnt/data
  std::string name;
  Id owner;
  uint64_t memory_bytes = 0;
  int64_t timeout_s = 0;
  int64_t idle_s = 0;       // 0: never expires
  int64_t awake_max_s = 0;  // limit on the time awake, used or not; 0: none
  std::string runtime;
  Json environment = Json::object();
  Json labels = Json::object();                            // for dialects
  std::vector<std::pair<std::string, std::string>> added;  // set by create(): requested path → new path
  int64_t execution_count = 0;
  TimeUs created_us = 0;
  TimeUs active_us = 0;
  std::optional<TimeUs> woke_us;  // when it last began to run; set only if awake_max_s limits that
  std::optional<TimeUs> deleted_us;
  SessionStatus status = SessionStatus::asleep;

  int64_t epoch = 0;  // of its owner; grows when another one takes over

  SessionKey key() const { return {id, workspace, epoch}; }
};

// A file or folder of any workspace that the caller may read, to copy into the session's folder.
struct AddedFile {
  std::string workspace;  // id or name; empty: the session's own
  std::string path;       // or a version:
  std::optional<Id> version;
  std::string as;                         // new name; empty: keeps its name
  workspace::Conditions conditions = {};  // lock tokens for the new path
};

struct NewSession {
  std::string name;
  std::optional<std::string> folder;  // in the workspace; unset: sessions/<name>-<short id>
  std::optional<uint64_t> memory_bytes;
  std::optional<int64_t> timeout_s;
  std::optional<int64_t> idle_s;
  int64_t awake_max_s = 0;
  std::string runtime;
  Json environment = Json::object();
  Json labels = Json::object();
  std::vector<AddedFile> files;
};

// Filter and page of a list of sessions, which is ordered by creation.
struct SessionQuery {
  std::string name;  // exact name; empty: any
  Id after;          // last session of the previous page; zero: first page
  workspace::Order order = workspace::Order::newest_first;
  size_t limit = 100;
};

struct NewExecution {
  std::string code;
  std::string language = "python";  // python | bash
  std::optional<int64_t> timeout_s;
  std::vector<AddedFile> files;
  // Tools that only the client has, as a JSON list of {name, function, description, parameters}; empty: none.
  // Code calls each as `function` (runtime/sandkeep_runtime/tools.py). The calls are `tools` events of the
  // feed, and Interpreter::answer_tools delivers their results.
  std::string tools = {};
  // The caller answers before the execution is done. It is a durable row before execute() returns, and a
  // killed server runs it after its restart unless it had begun.
  bool accepted = false;
  // The client learns the id while the execution runs, so its record is durable before that.
  bool announced = false;
  // The client's key for this request (Idempotency-Key); empty: none. A second request with that key gets the
  // execution of the first. Implies `accepted`, so that the key is known after a crash as well.
  std::string idempotency_key = {};
  // The client says that it sends this request again, without a key. It gets the session's newest execution
  // if that has the same code and its answer was not delivered.
  bool repeated = false;
  // "https://host:port", the base of links that the code asks for; empty: links are paths.
  std::string base_url = {};
};

struct Execution {
  Id id;
  Id session;
  int64_t number = 0;
  Id author;
  std::string language;
  std::string code;
  ExecutionStatus status = ExecutionStatus::queued;
  std::optional<Outcome> outcome;  // set when it is done
  std::string message;             // the reason, where the outcome does not show it
  std::optional<int> exit_code;    // of a program or of bash
  bool woke = false;               // the session was asleep: variables are lost, files are there
  Outputs outputs;
  Settled files;
  std::vector<std::pair<std::string, std::string>> added;  // requested path → new path
  TimeUs created_us = 0, started_us = 0, ended_us = 0;
  Json timings = Json::object();  // microseconds: queue, wake, run, keep
};

// The name of the execution's outcome; empty while it has none.
std::string_view outcome_name(const Execution& execution);

}  // namespace sk::interpreter
