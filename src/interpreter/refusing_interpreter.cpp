#include "interpreter/refusing_interpreter.h"

#include "base/log.h"
#include "interpreter/copy/working_copy.h"
#include "interpreter/record_deletion.h"
#include "interpreter/sessions/session_directory.h"

namespace sk::interpreter {

RefusingInterpreter::RefusingInterpreter(workspace::Keep& keep, std::string reason)
    : context_(keep.context()),
      records_(keep.context()),
      directory_(keep.context().directory),
      reason_(std::move(reason)) {}

Error RefusingInterpreter::refusal() const {
  return Error(Code::unavailable, reason_).advise(Advice::ask_operator);
}

void RefusingInterpreter::require_code() const { throw refusal(); }

std::optional<SessionInfo> RefusingInterpreter::find(const workspace::Actor& actor, const Id& session) {
  auto found = records_.find(session);
  return found && is_of(*found, actor) ? found : std::nullopt;
}

SessionInfo RefusingInterpreter::need_own(const workspace::Authority& authority, const Id& session) {
  auto found = records_.find(session);
  if (!found || !is_of(*found, authority)) throw no_session(session);
  return std::move(*found);
}

std::vector<SessionInfo> RefusingInterpreter::list(const workspace::Actor& actor, const SessionQuery& query) {
  return records_.list(actor.principal(), actor.only_workspace(), query);
}

std::optional<RunningExecution> RefusingInterpreter::find_running(const workspace::Authority& authority,
                                                                  const Id& session, const Id&) {
  need_own(authority, session);
  return std::nullopt;
}

std::optional<Execution> RefusingInterpreter::find_execution(const workspace::Authority& authority,
                                                             const Id& session, const Id& execution) {
  need_own(authority, session);
  return records_.find_execution(session, execution);
}

void RefusingInterpreter::make_thumbnail(const workspace::Version&, Thumbnails::OnMade on_made) {
  on_made(std::nullopt);
}

SessionInfo RefusingInterpreter::create(const workspace::Authority&, const NewSession&) { throw refusal(); }

Later<Done> RefusingInterpreter::remove(const workspace::Authority&, const Id&, OnUnkept) { throw refusal(); }

// Every session is asleep here, and nothing uses its copy.
Later<Done> RefusingInterpreter::remove_all(const workspace::Authority& authority) {
  authority.need(workspace::Right::own);
  for (const Id& id : undeleted_sessions(context_, authority.workspace_id())) {
    auto session = records_.find(id);
    if (!session) continue;
    records_.mark_deleted(authority, *session, context_.clock.now_us());
    for (const char* kind : {"", ".suspect"}) {
      const std::string copy = directory_ + "/copies/" + id.hex() + kind;
      try {
        WorkingCopy::remove_unused(copy);
      } catch (const std::exception& error) {
        log::error("the working copy of a session could not be removed",
                   {{"folder", copy}, {"error", error.what()}});
      }
    }
  }
  return Done{};
}

Later<Interpreter::Retried> RefusingInterpreter::retry_unkept(const workspace::Authority&, const Id&) {
  throw refusal();
}

Later<Done> RefusingInterpreter::sleep(const workspace::Authority& authority, const Id& session) {
  refuse_read_only(authority, "end sessions");
  need_own(authority, session);  // which is asleep already
  return Done{};
}

Later<RunningExecution> RefusingInterpreter::execute(const workspace::Authority&, const Id&, NewExecution) {
  throw refusal();
}

bool RefusingInterpreter::cancel(const workspace::Authority&, const Id&, const Id&) { throw refusal(); }

bool RefusingInterpreter::answer_tools(const workspace::Authority&, const Id&, const Id&, int64_t, Json) {
  throw refusal();
}

ExportedHistory RefusingInterpreter::export_history(const workspace::Authority& authority, const Id& session,
                                                    ExportFormat format) {
  return interpreter::export_history(
      need_own(authority, session), format, directory_,
      [&](int64_t after, size_t limit) { return records_.executions_after(session, after, limit); });
}

workspace::Page<Execution> RefusingInterpreter::executions(const workspace::Authority& authority,
                                                           const Id& session, int64_t before, size_t limit) {
  need_own(authority, session);
  constexpr size_t kListBytesMax = 4 << 20;
  return records_.list_executions(session, before, {limit, kListBytesMax});
}

std::vector<KeptFile> RefusingInterpreter::kept_files(const workspace::Authority& authority,
                                                      const Id& session, const Id& execution, int64_t after,
                                                      size_t limit) {
  return kept_page(find_execution(authority, session, execution), after, limit);
}

}  // namespace sk::interpreter
