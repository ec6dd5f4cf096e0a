// A client of MCP that speaks standard input and output on one side and a server's /mcp on the other: one
// message per line, both eras of the protocol, and local files where the user allowed it.
#pragma once

#include <atomic>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/json.h"
#include "base/worker_pool.h"
#include "cli/client/target.h"
#include "cli/frame/terminal.h"
#include "http/client.h"

namespace sk::cli {

// Made and used by one thread, which calls take_line() and finish(); requests wait for their answers on
// threads of their own.
class McpBridge {
 public:
  // `folders`: below these, and nowhere else, the tool `upload` may read files of this machine.
  McpBridge(Target target, Terminal& terminal, std::vector<std::string> folders);
  ~McpBridge();

  // One message of the client. Answers go to standard output, a line each, as they come.
  void take_line(const std::string& line);
  // Waits for what is under way, and ends the session.
  void finish();

 private:
  struct Outcome {
    int status = 0;
    bool sent = false;          // some of the request left, so the server may have begun it
    bool answered = false;      // the response came
    std::string last_event_id;  // to go on from, when it did not
    std::string error;          // what the server said instead
  };
  void write(const Json& message);
  void fail(const Json& id, int code, const std::string& text);
  http::Headers headers_for(const Json& message) const;
  Outcome post(const Json& message);
  Outcome resume(const Json& id, const std::string& last_event_id);
  void answer(const Json& message);
  bool begin_again();
  void listen();
  // Passes a message of the server on; true when it is the response to `id`.
  bool pass_on(Json message, const Json& id);
  bool upload_local(const Json& message);
  void note_cancelled(const Json& message);
  bool is_cancelled(const Json& id) const;

  const Target target_;
  Terminal& terminal_;
  const std::vector<std::string> folders_;
  mutable std::mutex mutex_;  // guards the four below
  std::string session_, version_;
  Json initialize_;             // the client's, to begin a lost session again
  std::deque<Json> cancelled_;  // ids of requests, the newest last
  std::atomic<bool> stopping_ = false;
  std::thread listener_;
  WorkerPool pool_;  // last: its threads use all of the above
};

}  // namespace sk::cli
