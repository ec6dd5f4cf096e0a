// Client of the Python kernel of one session: sends cells to it and turns its messages into events.
//
// Has no thread and never blocks. The owner watches one descriptor per kernel in its own loop and calls
// on_ready() when it is readable. All input is untrusted; a message that no kernel would send ends the
// session.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json.h"
#include "sandbox/frames.h"
#include "sandbox/marked_output.h"
#include "sandbox/session.h"

namespace sk::sandbox {

enum class Stream { output, errors };
enum class Language { python, bash };

// One displayed object in several formats.
struct MimeBundle {
  struct Part {
    std::string mime;     // "text/plain", "image/png"
    std::string content;  // text (UTF-8) or bytes; JSON types as JSON text
    bool is_binary = false;
  };
  std::vector<Part> parts;
  std::string metadata;  // JSON object as text; untrusted, validate before use

  const Part* find(std::string_view mime) const;
};

struct Display {
  MimeBundle bundle;
  std::string id;       // id of a display that may be updated later; otherwise empty
  bool update = false;  // replaces earlier displays with this id
};

struct CellResult {
  MimeBundle bundle;
  uint64_t count = 0;  // the n of Out[n]
};

struct CellError {
  std::string name;       // "ValueError"
  std::string value;      // its message
  std::string traceback;  // plain text without colours
};

enum class CellStatus { ok, error, interrupted };

struct CellDone {
  std::string id;
  CellStatus status = CellStatus::ok;
  uint64_t count = 0;               // the n of In[n]
  std::optional<int> exit_code;     // of a bash cell, or of exit() and sys.exit()
  int64_t wall_us = 0, cpu_us = 0;  // as the kernel measured them
};

// Request from `import sandkeep` in the session. Answer with Kernel::reply or refuse, now or later.
struct KernelRequest {
  uint64_t id = 0;
  std::string method;  // keep, link, fetch, versions; untrusted, may be any text
  Json params;         // an object
};

// Callbacks, called only from on_ready(). They must not destroy the kernel.
class KernelEvents {
 public:
  virtual ~KernelEvents() = default;
  // Bytes as printed. Does not split UTF-8 characters, if the output is UTF-8.
  virtual void on_output(Stream stream, std::string_view bytes) = 0;
  virtual void on_display(Display display) = 0;
  virtual void on_clear_output() {}
  virtual void on_result(CellResult result) = 0;
  virtual void on_error(CellError error) = 0;
  // All output of the cell has been delivered.
  virtual void on_done(CellDone done) = 0;
  virtual void on_request(KernelRequest request) = 0;
  // The last event: no process of the session is left, and all their output has been delivered.
  virtual void on_ended(const SessionEnd& outcome) = 0;
};

// Not thread-safe. `events` must outlive it. Methods throw Error(internal) when the system runs out of
// descriptors, otherwise only as documented.
class Kernel {
 public:
  Kernel(std::unique_ptr<Session> session, KernelEvents& events);
  ~Kernel();
  Kernel(const Kernel&) = delete;
  Kernel& operator=(const Kernel&) = delete;

  Session& session() { return *session_; }

  // Readable when on_ready() has work to do. This is an epoll descriptor; watch it level-triggered.
  int poll_fd() const { return epoll_.get(); }
  // Does a bounded amount of work. The descriptor stays readable while there is more.
  void on_ready();
  bool has_ended() const { return has_ended_; }

  // Sets environment variables for the following cells.
  void configure(const std::vector<std::pair<std::string, std::string>>& environment);
  // Starts a cell; only one may run until on_done. Throws Error(too_large) for code that does not fit into a
  // frame, Error(bad_request) for invalid UTF-8, Error(conflict) while a cell runs.
  void execute(const std::string& id, std::string_view code, Language language = Language::python,
               std::string_view tools = {});
  bool is_running() const { return !running_id_.empty(); }
  // Raises KeyboardInterrupt in the running cell. Does nothing when no cell runs.
  void interrupt();

  void reply(uint64_t request_id, const Json& value);
  void refuse(uint64_t request_id, std::string_view code, std::string_view message);

  // Stops reading output until resumed; a process that prints blocks once its pipe is full. Everything else
  // continues.
  void pause_output();
  void resume_output();

 private:
  struct Source;

  void send(const Json& message);
  void write_pending();
  void read_channel();
  void read_output(Source& source, size_t bytes_max);
  void order_output(uint64_t mark);
  void emit(Source& source, std::string text);
  void handle(const Json& frame);
  void finish(const Json& frame);
  void end_session();
  void watch(int fd, uint32_t events);
  void rest_if_busy();
  void go_on();
  void refresh_watches();

  std::unique_ptr<Session> session_;
  KernelEvents& events_;
  Fd epoll_;
  Fd timer_;  // created when the session first exceeds its output rate
  std::unique_ptr<Source> output_, errors_;
  FrameReader frames_;
  std::string pending_;  // bytes for the channel that its buffer did not accept
  std::string running_id_;
  std::vector<uint64_t> requests_;   // unanswered
  std::map<int, uint32_t> watched_;  // epoll events by descriptor
  int64_t slice_ends_us_ = 0;
  size_t wakes_in_slice_ = 0, frames_in_slice_ = 0, bytes_in_slice_ = 0;
  bool resting_ = false;
  bool paused_ = false;
  bool channel_open_ = true;
  bool has_ended_ = false;
};

}  // namespace sk::sandbox
