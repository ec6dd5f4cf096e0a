// The interpreter of a server that does not run code: reads recorded sessions and their executions, and
// refuses all other calls with the reason.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "interpreter/interpreter.h"
#include "interpreter/records.h"
#include "workspace/keep.h"

namespace sk::interpreter {

// Any thread. `keep` outlives it.
class RefusingInterpreter : public Interpreter {
 public:
  // `reason` is the message of every refusal: the part that the server lacks, or the setting that disables
  // code.
  RefusingInterpreter(workspace::Keep& keep, std::string reason);

  bool runs_code() const override { return false; }
  void require_code() const override;
  void recover() override {}
  void resume_accepted() override {}
  void close() override {}
  void await_executions(std::chrono::milliseconds) override {}
  void end_sessions() override {}
  void stop() override {}
  SessionInfo create(const workspace::Authority& authority, const NewSession& wanted) override;
  std::optional<SessionInfo> find(const workspace::Actor& actor, const Id& session) override;
  std::vector<SessionInfo> list(const workspace::Actor& actor, const SessionQuery& query) override;
  Later<Done> remove(const workspace::Authority& authority, const Id& session, OnUnkept unkept) override;
  Later<Done> remove_all(const workspace::Authority& authority) override;
  Later<Retried> retry_unkept(const workspace::Authority& authority, const Id& session) override;
  Later<Done> sleep(const workspace::Authority& authority, const Id& session) override;
  Later<RunningExecution> execute(const workspace::Authority& authority, const Id& session,
                                  NewExecution wanted) override;
  void note_unanswered(const Id&) override {}
  bool cancel(const workspace::Authority& authority, const Id& session, const Id& execution) override;
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
  bool can_have_thumbnail(const workspace::Version&) const override { return false; }
  void make_thumbnail(const workspace::Version& version, Thumbnails::OnMade on_made) override;
  InterpreterLoad load() const override { return {}; }
  size_t count_awake(const Id&) const override { return 0; }

 private:
  Error refusal() const;
  // Error(not_found) unless the session is on record and the authority's.
  SessionInfo need_own(const workspace::Authority& authority, const Id& session);

  workspace::KeepContext& context_;
  Records records_;
  const std::string directory_;  // for temporary files
  const std::string reason_;
};

}  // namespace sk::interpreter
