// The interpreter that runs code, in sandboxes.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/metrics.h"
#include "interpreter/interpreter.h"
#include "interpreter/options.h"
#include "sandbox/host.h"
#include "workspace/keep.h"

namespace sk::interpreter {

// Any thread. `keep`, `host` and `metrics` outlive it.
class SandboxedInterpreter final : public Interpreter {
 public:
  SandboxedInterpreter(workspace::Keep& keep, sandbox::SandboxHost& host, InterpreterOptions options,
                       Metrics& metrics);
  ~SandboxedInterpreter() override;

  bool runs_code() const override { return true; }
  bool has_exact_limits() const override;
  void require_code() const override {}
  void recover() override;
  void resume_accepted() override;
  void close() override;
  void await_executions(std::chrono::milliseconds limit) override;
  void end_sessions() override;
  void stop() override;
  SessionInfo create(const workspace::Authority& authority, const NewSession& wanted) override;
  std::optional<SessionInfo> find(const workspace::Actor& actor, const Id& session) override;
  std::vector<SessionInfo> list(const workspace::Actor& actor, const SessionQuery& query) override;
  Later<Done> remove(const workspace::Authority& authority, const Id& session, OnUnkept unkept) override;
  Later<Done> remove_all(const workspace::Authority& authority) override;
  Later<Retried> retry_unkept(const workspace::Authority& authority, const Id& session) override;
  Later<Done> sleep(const workspace::Authority& authority, const Id& session) override;
  Later<RunningExecution> execute(const workspace::Authority& authority, const Id& session,
                                  NewExecution wanted) override;
  void note_unanswered(const Id& execution) override;
  bool cancel(const workspace::Authority& authority, const Id& session, const Id& execution) override;
  void forget_finished(const Id& workspace, TimeUs before_us) override;
  std::optional<RunningExecution> find_running(const workspace::Authority& authority, const Id& session,
                                               const Id& execution) override;
  bool answer_tools(const workspace::Authority& authority, const Id& session, const Id& execution,
                    int64_t event, Json results) override;
  std::optional<Execution> find_execution(const workspace::Authority& authority, const Id& session,
                                          const Id& execution) override;
  ExportedHistory export_history(const workspace::Authority& authority, const Id& session,
                                 ExportFormat format) override;
  workspace::Page<Execution> executions(const workspace::Authority& authority, const Id& session,
                                        int64_t before, size_t limit) override;
  std::vector<KeptFile> kept_files(const workspace::Authority& authority, const Id& session,
                                   const Id& execution, int64_t after, size_t limit) override;
  bool can_have_thumbnail(const workspace::Version& version) const override;
  void make_thumbnail(const workspace::Version& version, Thumbnails::OnMade on_made) override;
  InterpreterLoad load() const override;
  size_t count_awake(const Id& owner) const override;

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace sk::interpreter
