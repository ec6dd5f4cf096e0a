// run_python, run_shell and list_sessions: runs code in an interpreter that keeps its variables and files.
#include "api/mcp/tools/run.h"
#include "api/common/await.h"
#include "api/common/fields.h"
#include "api/common/need_interpreter.h"
#include "api/mcp/hub.h"
#include "api/mcp/tools/run_result.h"
#include "base/mutex.h"
#include "base/path.h"
#include "base/text.h"

namespace sk::api::mcp {

namespace {

using interpreter::Execution;
using interpreter::ExecutionEvent;
using interpreter::RunningExecution;
using workspace::Right;
namespace prefix = workspace::prefix;

constexpr int kInfo = 1;
constexpr size_t kSessionNameMax = 64;
constexpr size_t kProgressTextMax = 500;
// How long a client that accepts tasks waits for a normal answer.
constexpr std::chrono::seconds kTaskAfter{10};

// "s_…" and "cntr_…" are ids; other texts are names.
Id session_of(ToolCall& call, interpreter::Interpreter& interpreter) {
  auto wanted = call.text("session").value_or("default");
  if (auto id = Id::from_prefixed(wanted, prefix::session)) return *id;
  if (auto id = Id::from_prefixed(wanted, "cntr_")) return *id;
  if (wanted.empty() || wanted.size() > kSessionNameMax)
    throw Error(Code::bad_request, "'session' must be an id (s_…) or a name of at most 64 bytes");
  auto workspace = call.open_workspace(Right::write);
  return call.turn.hub.default_sessions.find_or_create(interpreter, workspace, wanted);
}

std::vector<interpreter::AddedFile> added_files(ToolCall& call) {
  std::vector<interpreter::AddedFile> files;
  for (const auto& text : call.texts("files")) {
    interpreter::AddedFile file;
    file.version = Id::from_prefixed(text, prefix::version);
    if (!file.version) {
      file.workspace = call.text("workspace").value_or("");
      file.path = clean_file_path(from_code_path(text));
    }
    files.push_back(std::move(file));
  }
  return files;
}

struct Told {
  std::string text;
  std::string_view logger;  // empty: not logged
};

// Returns the progress message for an event; nullopt for events that are not reported.
std::optional<Told> told_of(const interpreter::Event& event) {
  if (std::holds_alternative<interpreter::Started>(event)) return Told{"running", {}};
  const auto* added = std::get_if<interpreter::OutputAdded>(&event);
  if (added == nullptr) return std::nullopt;
  if (const auto* text = std::get_if<interpreter::TextOutput>(&added->output))
    return Told{text->text, interpreter::name_of(text->stream)};
  if (const auto* note = std::get_if<interpreter::NoteOutput>(&added->output))
    return Told{note->text.text(), "note"};
  return Told{};
}

// One run from its request to its answer. It outlives the turn. Any thread.
class Run : public std::enable_shared_from_this<Run> {
 public:
  Run(ToolCall& call, const Id& session, workspace::Authority authority,
      std::function<ToolResult(const Execution&)> to_result)
      : app_(call.app()),
        hub_(call.turn.hub),
        session_(session),
        authority_(std::move(authority)),
        to_result_(std::move(to_result)),
        envelope_(call.turn.envelope),
        client_(call.turn.session),
        progress_token_(call.turn.progress_token()),
        logs_(call.turn.wants_log(kInfo)),
        takes_tasks_(takes_tasks(call.turn)) {}

  // Answers through a channel of the turn, when the execution has ended. A task is the answer at once, in the
  // era where the client asks for one.
  void begin(Turn& turn, const Later<RunningExecution>& queued) {
    // Weak: the run owns its channel, and the callbacks below keep the run.
    auto channel = turn.open_channel([weak = weak_from_this(), queued] {
      if (auto self = weak.lock()) self->cancel(queued);
    });
    if (open(std::move(channel)) == Opened::cancelled && queued.give_up()) return finish({});
    queued.then([self = shared_from_this()](Result<RunningExecution> result) {
      if (const Error* error = result.error()) return self->finish(failed(*error));
      self->on_queued(result.take());
    });
  }

  ToolResult task_result(const RunningExecution& running) {
    TaskId task{session_, running.id};
    hub_.tasks.add(authority_.actor().principal(), task);
    ToolResult result;
    result.raw = {{"task", task_json(Era::legacy, task, running.asked)}};
    return result;
  }

 private:
  enum class Opened { waiting, cancelled };
  // The client may cancel before the channel is open.
  Opened open(std::shared_ptr<Channel> channel) {
    MutexLock lock(mutex_);
    channel_ = std::move(channel);
    return cancelled_ ? Opened::cancelled : Opened::waiting;
  }
  std::shared_ptr<Channel> channel() {
    MutexLock lock(mutex_);
    return channel_;
  }

  bool is_task() const { return envelope_.era == Era::legacy && takes_tasks_; }

  void on_queued(const RunningExecution& running) {
    bool is_cancelled = false;
    {
      MutexLock lock(mutex_);
      execution_ = running.id;
      is_cancelled = cancelled_;
    }
    if (is_cancelled) interrupt(running.id);
    if (is_task()) return finish(task_result(running));
    follow(running);
    if (takes_tasks_) become_task_later(running);
    running.feed->await(await_deadline_us(app_), [self = shared_from_this()](const Execution* execution) {
      self->finish(execution != nullptr ? self->to_result_(*execution) : failed(overdue_error()));
    });
  }

  // Streams the code's output to a waiting client.
  void follow(const RunningExecution& running) {
    if (progress_token_.is_null() && !logs_) return;
    running.feed->follow(
        0, [channel = channel(), token = progress_token_, logs = logs_](const ExecutionEvent& event) {
          auto told = told_of(event.event);
          if (!told) return;
          if (!token.is_null()) {
            Json params = {{"progressToken", token}, {"progress", event.number}};
            auto line = last_text(trim(told->text), kProgressTextMax);
            if (!line.empty()) params["message"] = line;
            channel->notify("notifications/progress", std::move(params));
          }
          if (logs && !told->logger.empty())
            channel->notify("notifications/message",
                            {{"level", "info"}, {"logger", told->logger}, {"data", told->text}});
        });
  }

  // Sends a task in place of the answer after a delay, to a client that accepts tasks.
  void become_task_later(const RunningExecution& running) {
    TaskId task{session_, running.id};
    auto give = [channel = channel(), envelope = envelope_, task, feed = running.feed,
                 asked = running.asked] {
      if (feed->finished()) return;
      auto result = task_json(Era::modern, task, asked);
      result["resultType"] = "task";
      channel->finish(envelope.wrap(std::move(result)));
    };
    hub_.tasks.add(authority_.actor().principal(), task);
    app_.background.run_after(kTaskAfter, give);
  }

  void cancel(const Later<RunningExecution>& queued) {
    Id running;
    {
      MutexLock lock(mutex_);
      cancelled_ = true;
      if (!channel_) return;  // begin() sees it
      running = execution_;
    }
    if (running)
      interrupt(running);
    else if (queued.give_up())
      finish({});
  }

  void interrupt(const Id& execution) {
    try {
      app_.interpreter.cancel(authority_, session_, execution);
    } catch (const Error&) {
      // The execution has ended, or its session was deleted.
    }
  }

  void finish(const ToolResult& result) {
    if (client_) client_->forget_running(envelope_.id);
    bool is_cancelled = false;
    {
      MutexLock lock(mutex_);
      is_cancelled = cancelled_;
    }
    if (is_cancelled) return channel()->abandon();
    channel()->finish(envelope_.wrap(result.to_json()));
  }

  App& app_;
  Hub& hub_;
  const Id session_;
  const workspace::Authority authority_;
  const std::function<ToolResult(const Execution&)> to_result_;
  const Envelope envelope_;
  const std::shared_ptr<LegacySession> client_;
  const Json progress_token_;
  const bool logs_;
  const bool takes_tasks_;
  Mutex mutex_;
  std::shared_ptr<Channel> channel_ SK_GUARDED_BY(mutex_);  // set by begin()
  bool cancelled_ SK_GUARDED_BY(mutex_) = false;
  Id execution_ SK_GUARDED_BY(mutex_);  // zero until it is queued
};

}  // namespace

std::optional<ToolResult> start_run(ToolCall& call, const Id& session, interpreter::NewExecution wanted,
                                    std::function<ToolResult(const Execution&)> to_result) {
  auto& turn = call.turn;
  auto& interpreter = need_interpreter(call.app());
  bool is_task = turn.era == Era::legacy && takes_tasks(turn);
  wanted.base_url = call.base_url();
  wanted.accepted = is_task;
  auto authority = session_authority(call.app(), call.actor(), session);
  auto run = std::make_shared<Run>(call, session, authority, std::move(to_result));
  turn.call.hold_connection();
  auto queued = interpreter.execute(authority, session, std::move(wanted));
  if (!queued.known()) {
    run->begin(turn, queued);
    return std::nullopt;
  }
  RunningExecution running = queued.get();  // its Error is the tool's result
  if (is_task) return run->task_result(running);
  run->begin(turn, running);
  return std::nullopt;
}

namespace {

std::optional<ToolResult> run_code(ToolCall& call, std::string_view language, std::string_view code_field) {
  auto& interpreter = need_interpreter(call.app());
  auto session = session_of(call, interpreter);
  interpreter::NewExecution wanted;
  wanted.code = call.need_text(code_field);
  wanted.language = language;
  wanted.timeout_s = call.integer("timeout_s");
  wanted.files = added_files(call);
  return start_run(
      call, session, std::move(wanted),
      [base_url = call.base_url()](const Execution& execution) { return run_result(execution, base_url); });
}

std::optional<ToolResult> list_sessions(ToolCall& call) {
  interpreter::SessionQuery query;
  query.limit = 50;
  ToolResult result;
  Json sessions = Json::array();
  for (const auto& session : session_directory(call.app()).list(call.actor(), query)) {
    auto id = session.id.with_prefix(prefix::session);
    sessions.push_back({{"session", id},
                        {"name", session.name},
                        {"status", interpreter::name_of(session.status)},
                        {"workspace_id", session.workspace.with_prefix(prefix::workspace)},
                        {"folder", session.folder},
                        {"runs", session.execution_count},
                        {"used_at", to_iso8601(session.active_us)}});
    result.text.append("- ").append(id).append(" ").append(as_code(session.name)).append(", ");
    result.text.append(interpreter::name_of(session.status))
        .append(", /mnt/data is ")
        .append(as_code(session.folder));
    result.text.append(", ").append(counted(session.execution_count, "run", "runs")).append(", last ");
    result.text.append(to_iso8601(session.active_us)).append("\n");
  }
  if (sessions.empty()) result.text = "No sessions yet; run_python creates one.";
  result.structured = {{"sessions", std::move(sessions)}};
  return result;
}

Json run_input(std::string_view code_field, std::string_view code_about, Json example) {
  Json input = {{std::string(code_field), field::text(code_about, std::move(example))}};
  input["session"] = field::text(
      "An id from an earlier answer, or a name. Each name is a separate interpreter. Default: the "
      "workspace's interpreter.");
  input["workspace"] = field::workspace();
  // The setting execution_timeout_max_s is the only upper limit, and the interpreter checks it.
  input["timeout_s"] = field::integer("Seconds.", 1);
  input["files"] = field::texts("Paths or version ids to copy into /mnt/data first.");
  return input;
}

Json run_output() {
  return {{"session", field::any("string")},
          {"end",
           {{"type", "string"},
            {"description", "ok, error, interrupted, timeout, oom, pids, disk, crash or revoked"}}},
          {"stdout", field::any("string")},
          {"stderr", field::any("string")},
          {"result", field::any("string")},
          // A failed call has the error as an object here, as in every tool.
          {"error",
           {{"type", {"string", "object"}},
            {"description", "The traceback; or code, message and hint of a call that was refused."}}},
          {"woke",
           {{"type", "boolean"},
            {"description", "The session was asleep: variables are lost, files are there."}}},
          {"files", field::list_of({"path", "version_id", "link", "size", "mime", "change"})}};
}

}  // namespace

Tools run_tools() {
  return {
      {.name = "run_python",
       .title = "Run Python",
       .about = "Runs a cell in a sandboxed Python (pandas, numpy, matplotlib; no network). Variables "
                "persist between calls. /mnt/data is the workspace folder `data`. Every file written there "
                "is stored with a version and a permanent link before the answer is sent.",
       .input = run_input("code", "A cell, as in a notebook; the last expression is the result.",
                          "import pandas as pd\npd.read_csv('/mnt/data/sales.csv').describe()"),
       .required = {"code"},
       .output = run_output(),
       .destroys = true,
       .runs_code = true,
       .has_tasks = true,
       .run = [](ToolCall& call) { return run_code(call, "python", "code"); }},
      {.name = "run_shell",
       .title = "Run a shell command",
       .about = "Runs bash in the same sandbox and /mnt/data as run_python.",
       .input = run_input("command", "For bash.", "head -3 /mnt/data/*.csv"),
       .required = {"command"},
       .output = run_output(),
       .destroys = true,
       .runs_code = true,
       .has_tasks = true,
       .run = [](ToolCall& call) { return run_code(call, "bash", "command"); }},
      {.name = "list_sessions",
       .title = "List interpreters",
       .about = "Lists your interpreters, newest first. Pass one as `session` to continue in it.",
       .input = Json::object(),
       .output = {{"sessions", field::list_of({"session", "name", "status", "folder", "used_at"})}},
       .reads_only = true,
       .runs_code = true,
       .run = list_sessions},
  };
}

}  // namespace sk::api::mcp
