// Information about a pool's sessions and their runtime.
#include <unordered_map>

#include "api/azure/azure.h"
#include "api/azure/session.h"
#include "api/common/await.h"
#include "api/common/need_interpreter.h"
#include "api/vendor/output_text.h"
#include "base/mutex.h"
#include "base/text.h"
#include "interpreter/sessions/aliases.h"

namespace sk::api::azure {

namespace {

using http::Reply;
using interpreter::Execution;
using interpreter::SessionInfo;

constexpr size_t kSessionsPage = 100;

Json session_json(const SessionInfo& session, const std::string& identifier) {
  bool expires = session.idle_s > 0;
  return {{"identifier", identifier},
          {"createdAt", to_iso8601(session.created_us)},
          {"lastAccessedAt", to_iso8601(session.active_us)},
          {"expireAt", expires ? Json(to_iso8601(session.active_us + session.idle_s * kSecondUs)) : Json()},
          {"etag", session.id.hex() + "-" + std::to_string(session.execution_count)},
          {"status", interpreter::name_of(session.status)}};
}

Reply get_session(Call& call) { return Reply::json(session_json(need_session(call), identifier_of(call))); }

// Deletes the session; its files stay in the workspace. A missing session counts as deleted, because clients
// close sessions that they never used.
Reply delete_session(Call& call) {
  auto session = find_session(call);
  call.actor.need_write();
  if (!session) return Reply::empty();
  auto& interpreter = need_interpreter(call.app);
  call.hold_connection();
  auto removed = interpreter.remove(session_authority(call.app, call.actor, session->id), session->id,
                                    unkept_by(call.query));
  return when_known<Done>(call, removed, [](const Done&) { return Reply::empty(); });
}

Reply list_sessions(Call& call) {
  auto skip = static_cast<size_t>(within(call.query.integer("skip").value_or(0), 0, INT32_MAX, "skip"));
  interpreter::Aliases aliases(call.app.keep, call.app.interpreter);
  auto named = aliases.list(call.app.keep.workspaces().open_default(call.actor), "azure:" + pool_of(call),
                            skip, kSessionsPage + 1);
  Json sessions = Json::array();
  for (const auto& [alias, session] : named) {
    if (sessions.size() == kSessionsPage) break;
    sessions.push_back(session_json(session, alias));
  }
  Json out = {{"sessions", std::move(sessions)}};
  if (named.size() > kSessionsPage) {
    std::string next = pool_url(call) + "/listSessions?skip=" + std::to_string(skip + kSessionsPage);
    if (auto version = call.query.text("api-version")) next += "&api-version=" + percent_encode(*version);
    out["nextLink"] = next;
  }
  return Reply::json(out);
}

// ---- /metadata: asks a Python session once per principal and caches the answer.

constexpr std::string_view kAskPackages =
    "import importlib.metadata, json, platform\n"
    "print(json.dumps({'python': platform.python_version(), 'packages': sorted(\n"
    "    {d.metadata['Name']: d.version for d in importlib.metadata.distributions() if "
    "d.metadata['Name']}.items())}))";

// One principal's code might influence the answer, so others do not get it.
class Known {
 public:
  // Null when there is no answer yet.
  Json find(const Id& principal) {
    MutexLock lock(mutex_);
    auto found = packages_.find(principal);
    return found == packages_.end() ? Json() : found->second;
  }
  void add(const Id& principal, Json packages) {
    constexpr size_t kMost = 1000;
    MutexLock lock(mutex_);
    if (packages_.size() >= kMost) packages_.clear();
    packages_[principal] = std::move(packages);
  }

 private:
  Mutex mutex_;
  std::unordered_map<Id, Json> packages_ SK_GUARDED_BY(mutex_);
};

// Parses the output of kAskPackages, which comes from a sandbox and can be anything. Null when it is not the
// answer.
Json packages_in(const std::string& printed) {
  Json told = Json::parse(printed, nullptr, false);
  if (!told.is_object() || !told.contains("python") || !told.contains("packages")) return {};
  if (!told.at("python").is_string() || !told.at("packages").is_array()) return {};
  for (const auto& pair : told.at("packages"))
    if (!pair.is_array() || pair.size() != 2) return {};
  return told;
}

Json metadata_json(const Json& known, const std::string& version, TimeUs created_us) {
  Json packages = Json::array();
  for (const auto& pair : known.at("packages"))
    packages.push_back({{"name", pair.at(0)}, {"version", pair.at(1)}});
  return {{"runtimes", Json::array({{{"name", "python"}, {"version", known.at("python")}}})},
          {"preInstalledPackages", packages},
          {"createdAt", to_iso8601(created_us)},
          {"lastUpdatedAt", to_iso8601(created_us)},
          {"jupyterKernel",
           {{"name", "sandkeep"},
            {"version", version},
            {"projectUrl", Json()},
            {"description", "IPython in a sandbox, without a Jupyter server."}}}};
}

Reply get_metadata(Call& call, const std::shared_ptr<Known>& known) {
  auto& interpreter = need_interpreter(call.app);
  TimeUs created_us = call.app.keep.workspaces().open_default(call.actor).workspace().created_us;
  if (auto packages = known->find(call.actor.principal()); !packages.is_null())
    return Reply::json(metadata_json(packages, call.app.version, created_us));
  call.hold_connection();
  interpreter::NewSession wanted;
  wanted.name = "metadata";
  auto authority = call.app.keep.workspaces().open_default(call.actor, workspace::Right::write);
  SessionInfo session = interpreter.create(authority, wanted);
  interpreter::NewExecution question;
  question.code = kAskPackages;
  // Also for a client that has disconnected: the next one finds the answer, and the session is not needed.
  auto learn = [known, &app = call.app, authority, session](const Execution& execution) {
    if (Json told = packages_in(output_text(execution, session).printed); !told.is_null())
      known->add(authority.actor().principal(), std::move(told));
    app.interpreter.remove(authority, session.id, interpreter::Interpreter::OnUnkept::discard)
        .then([](const Result<Done>&) {});
  };
  auto answer = [created_us, &app = call.app, session](const Execution& execution) {
    Json told = packages_in(output_text(execution, session).printed);
    if (told.is_null()) told = {{"python", ""}, {"packages", Json::array()}};
    return Reply::json(metadata_json(told, app.version, created_us));
  };
  return when_known<interpreter::RunningExecution>(
      call, interpreter.execute(authority, session.id, question),
      [after = AfterCall(call), learn, answer](const interpreter::RunningExecution& running) {
        running.feed->on_finish(learn);
        return await(after, running, {.answer = answer});
      });
}

}  // namespace

void add_session_routes(Pools& pools) {
  pools.add({.method = "GET",
             .pattern = "/session",
             .id = "azure_get_session",
             .tag = "azure",
             .summary = "One session"},
            get_session);
  pools.add({.method = "DELETE",
             .pattern = "/session",
             .id = "azure_delete_session",
             .tag = "azure",
             .summary = "Deletes a session; its files stay",
             .query = force_field()},
            delete_session);
  pools.add({.method = "GET",
             .pattern = "/listSessions",
             .id = "azure_list_sessions",
             .tag = "azure",
             .summary = "Lists the sessions of a pool",
             .query = {{.name = "skip", .type = FieldType::integer, .about = "Number of sessions to skip."}}},
            list_sessions);
  auto known = std::make_shared<Known>();
  pools.add({.method = "GET",
             .pattern = "/metadata",
             .id = "azure_get_metadata",
             .tag = "azure",
             .summary = "Returns the runtime of the sessions"},
            [known](Call& call) { return get_metadata(call, known); });
}

}  // namespace sk::api::azure
