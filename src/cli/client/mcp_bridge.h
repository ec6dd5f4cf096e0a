// Connects an MCP client on standard input and output to a server's /mcp. Handles one message per line, both
// eras of the protocol, and local files that the user allowed.
#pragma once

#include <atomic>
#include <deque>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/json.h"
#include "base/mutex.h"
#include "base/worker_pool.h"
#include "cli/client/target.h"
#include "cli/frame/terminal.h"
#include "http/client/client.h"

namespace sk::cli {

// Created and used by one thread, which calls take_line() and finish(). Requests wait for their answers on
// the pool's threads.
class McpBridge {
 public:
  // The tool `upload` may read local files below `folders` only.
  McpBridge(Target target, Terminal& terminal, std::vector<std::string> folders);
  ~McpBridge();

  // Handles one message of the client. Writes each answer as one line to standard output when it arrives.
  void take_line(const std::string& line);
  // Waits for active requests and ends the session.
  void finish();

 private:
  struct Outcome {
    int status = 0;
    bool sent = false;          // part of the request was sent, so the server may have started it
    bool answered = false;      // the response arrived
    std::string last_event_id;  // resume point if the response did not arrive
    std::string error;          // the server's error text
  };
  void write(const Json& message);
  void fail(const Json& id, int code, const std::string& text);
  http::Headers headers_for(const Json& message) const;
  Outcome post(const Json& message);
  Outcome resume(const Json& id, const std::string& last_event_id);
  void answer(const Json& message);
  bool begin_again();
  void listen();
  // Forwards a message of the server. Returns true if it is the response to `id`.
  bool pass_on(Json message, const Json& id);
  bool upload_local(const Json& message);
  void note_cancelled(const Json& message);
  bool is_cancelled(const Json& id) const;

  const Target target_;
  Terminal& terminal_;
  const std::vector<std::string> folders_;
  mutable Mutex mutex_;
  std::string session_ SK_GUARDED_BY(mutex_);
  std::string version_ SK_GUARDED_BY(mutex_);
  Json initialize_ SK_GUARDED_BY(mutex_);             // the client's message, to recreate a lost session
  std::deque<Json> cancelled_ SK_GUARDED_BY(mutex_);  // request ids, newest last
  std::atomic<bool> stopping_ = false;
  std::thread listener_;
  WorkerPool pool_;  // last, because its threads use all other members
};

}  // namespace sk::cli
