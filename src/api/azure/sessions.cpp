// What a pool tells about its sessions and about what they run on.
#include <mutex>

#include "api/azure/azure.h"
#include "api/azure/session.h"
#include "api/common/need_interpreter.h"
#include "api/vendor/output_text.h"
#include "base/text.h"
#include "interpreter/sessions/aliases.h"

namespace sk::api::azure {

namespace {

using http::Reply;
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

// The files stay in the workspace. A session that is not there is as deleted as one can be: clients close
// what they never used.
Reply delete_session(Call& call) {
  auto session = find_session(call);
  call.actor.need_write();
  if (session) need_interpreter(call.app).remove(call.actor, session->id, unkept_by(call.query));
  return Reply::empty();
}

Reply list_sessions(Call& call) {
  auto skip = static_cast<size_t>(within(call.query.integer("skip").value_or(0), 0, INT32_MAX, "skip"));
  interpreter::Aliases aliases(call.app.keep, call.app.interpreter);
  auto named = aliases.list(call.actor, "azure:" + pool_of(call), skip, kSessionsPage + 1);
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

// ---- /metadata: asked of the interpreter itself, once.

constexpr std::string_view kAskPackages =
    "import importlib.metadata, json, platform\n"
    "print(json.dumps({'python': platform.python_version(), 'packages': sorted(\n"
    "    {d.metadata['Name']: d.version for d in importlib.metadata.distributions() if "
    "d.metadata['Name']}.items())}))";

struct Known {
  std::mutex mutex;
  Json packages;  // guarded by mutex; null until somebody asked
};

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
  {
    std::lock_guard lock(known->mutex);
    if (!known->packages.is_null())
      return Reply::json(metadata_json(known->packages, call.app.version, created_us));
  }
  interpreter::NewSession wanted;
  wanted.name = "metadata";
  SessionInfo session = interpreter.create(call.actor, wanted);
  interpreter::NewExecution question;
  question.code = kAskPackages;
  auto running = interpreter.execute(call.actor, session.id, question);
  auto deferred = std::make_shared<http::Deferred>(
      std::chrono::minutes(5), [] { return Reply::json(Json::object(), 504); }, [] {});
  auto answer = [deferred, known, created_us, &app = call.app, actor = call.actor,
                 session](const interpreter::Execution& execution) {
    Json told = Json::parse(output_text(execution).printed, nullptr, false);
    if (told.is_object()) {
      std::lock_guard lock(known->mutex);
      known->packages = told;
    } else {
      told = {{"python", ""}, {"packages", Json::array()}};
    }
    deferred->complete(Reply::json(metadata_json(told, app.version, created_us)));
    // On another thread: the session that answers here cannot wait for its own end.
    app.background.run([&app, actor, session] {
      try {
        app.interpreter.remove(actor, session.id, interpreter::Interpreter::OnUnkept::discard);
      } catch (const Error&) {
        // It stays, asleep, until somebody deletes it.
      }
    });
  };
  running.feed->on_finish(answer);
  return Reply::deferred(deferred);
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
             .summary = "Ends a session; its files stay",
             .query = force_field()},
            delete_session);
  pools.add({.method = "GET",
             .pattern = "/listSessions",
             .id = "azure_list_sessions",
             .tag = "azure",
             .summary = "The sessions of a pool",
             .query = {{.name = "skip", .type = FieldType::integer, .about = "How many to leave out."}}},
            list_sessions);
  auto known = std::make_shared<Known>();
  pools.add({.method = "GET",
             .pattern = "/metadata",
             .id = "azure_get_metadata",
             .tag = "azure",
             .summary = "What sessions run on"},
            [known](Call& call) { return get_metadata(call, known); });
}

}  // namespace sk::api::azure
