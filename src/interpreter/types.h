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
  int64_t awake_max_s = 0;  // so long it stays awake at most, used or not; 0: as long as it is used
  std::string runtime;
  Json environment = Json::object();
  Json labels = Json::object();                            // free for dialects
  std::vector<std::pair<std::string, std::string>> added;  // by create(): asked for → where it is now
  int64_t execution_count = 0;
  TimeUs created_us = 0;
  TimeUs active_us = 0;
  std::optional<TimeUs> woke_us;  // when it last began to run; told only where awake_max_s limits that
  std::optional<TimeUs> deleted_us;
  SessionStatus status = SessionStatus::asleep;

  int64_t epoch = 0;  // of its owner; grows when another one takes over

  SessionKey key() const { return {id, workspace, epoch}; }
};

// A file or folder of any workspace that the caller may read, to be copied into the session's folder.
struct AddedFile {
  std::string workspace;  // id or name; empty: the session's own
  std::string path;       // or a version:
  std::optional<Id> version;
  std::string as;                         // empty: its own name
  workspace::Conditions conditions = {};  // for the place that it gets: tokens of locks
};

struct NewSession {
  std::string name;
  std::string workspace;              // empty: the caller's default
  std::optional<std::string> folder;  // unset: sessions/<name>-<short id>
  std::optional<uint64_t> memory_bytes;
  std::optional<int64_t> timeout_s;
  std::optional<int64_t> idle_s;
  int64_t awake_max_s = 0;
  std::string runtime;
  Json environment = Json::object();
  Json labels = Json::object();
  std::vector<AddedFile> files;
};

// Which sessions a list has, and in which order: by when they were made.
struct SessionQuery {
  std::string name;  // exactly; empty: any
  Id after;          // the last one seen; zero: from the beginning
  workspace::Order order = workspace::Order::newest_first;
  size_t limit = 100;
};

struct NewExecution {
  std::string code;
  std::string language = "python";  // python | bash
  std::optional<int64_t> timeout_s;
  std::vector<AddedFile> files;
  // Its code may call tools that only the client has (runtime/sandkeep_runtime/tools.py): they come as
  // `tools` events of its feed, and Interpreter::answer_tools brings their results.
  bool tools = false;
  // The caller answers before it is done: it is a durable row before execute() returns, and a killed server
  // runs it after its restart unless it had begun.
  bool accepted = false;
  // Its id is told while it runs: its record is durable before that.
  bool announced = false;
  // The client's name for this request (Idempotency-Key); empty: none. A second request of that name gets the
  // execution of the first. Makes it `accepted`, so that the name is known after a crash as well.
  std::string idempotency_key = {};
  // The client says that it sent this before, without a name: it gets the session's newest execution if that
  // is what it asks for and nobody got its answer.
  bool repeated = false;
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
  std::string message;             // why it ended so, where that is not plain
  std::optional<int> exit_code;    // of a program or of bash
  bool woke = false;               // the session was asleep: variables are gone, files are there
  Outputs outputs;
  Settled files;
  std::vector<std::pair<std::string, std::string>> added;  // asked for → where it is now
  TimeUs created_us = 0, started_us = 0, ended_us = 0;
  Json timings = Json::object();  // microseconds: queue, wake, run, keep
};

// The name of its outcome; empty while it has none.
std::string_view outcome_name(const Execution& execution);

}  // namespace sk::interpreter
