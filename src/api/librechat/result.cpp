#include "api/librechat/result.h"

#include "api/vendor/error_words.h"
#include "api/vendor/output_text.h"
#include "workspace/links.h"

namespace sk::api::librechat {

namespace {

using interpreter::Execution;
using interpreter::Outcome;

constexpr size_t kFilesInAnswerMax = 1'000;

Json file_json(const Asked& asked, const Id& version, std::string_view path, const std::string& base_url) {
  auto session = asked.session.id.base64url21();
  return {{"id", version.base64url21()},
          {"name", name_in(asked.session, path)},
          {"session_id", session},
          {"storage_session_id", session},
          {"link", base_url + workspace::Links::path_of(version, path)}};
}

// Returns the index of the request's file at this path.
std::optional<size_t> attached_at(const Asked& asked, const std::string& path) {
  for (size_t i = 0; i < asked.attached.size(); ++i)
    if (asked.attached[i].path == path) return i;
  return std::nullopt;
}

Json written_files(const Execution& execution, const Asked& asked, const std::string& base_url,
                   std::vector<bool>& seen) {
  Json out = Json::array();
  const size_t shown = execution.files.kept_to_show(kFilesInAnswerMax);
  for (const auto& kept : execution.files.kept) {
    auto input = attached_at(asked, kept.path);
    if (input) seen[*input] = true;
    // Does not report changes to a skill's files, which belong to the skill. The workspace keeps them anyway.
    if ((input && asked.read_only[*input]) || out.size() >= shown) continue;
    Json file = file_json(asked, kept.version, kept.path, base_url);
    if (input && kept.version != asked.attached[*input].version)
      file["modified_from"] = {{"id", asked.refs.all[*input].id},
                               {"storage_session_id", asked.refs.all[*input].session}};
    out.push_back(std::move(file));
  }
  return out;
}

// Adds files of the request that code did not change, under the ids that the client gave.
void add_inherited(Json& files, const Asked& asked, const std::vector<bool>& seen) {
  for (size_t i = 0; i < asked.attached.size(); ++i) {
    if (seen[i] || asked.attached[i].path.empty()) continue;
    const auto& ref = asked.refs.all[i];
    files.push_back({{"id", ref.id},
                     {"name", name_in(asked.session, asked.attached[i].path)},
                     {"session_id", ref.session},
                     {"storage_session_id", ref.session},
                     {"inherited", true}});
  }
}

// Adds the outcome in the official server's terms, for programs that were stopped from outside too.
void add_ending(Json& out, const Execution& execution) {
  if (execution.outcome == Outcome::ok) {
    out["code"] = execution.exit_code.value_or(0);
    return;
  }
  bool ended_itself = execution.outcome == Outcome::error;
  out["code"] = ended_itself ? Json(execution.exit_code.value_or(1)) : Json();
  if (ended_itself) return;
  out["signal"] = "SIGKILL";
  out["status"] = execution.outcome == Outcome::timeout ? "TO" : "RE";
  out["message"] = execution.message.empty() ? std::string(outcome_name(execution)) : execution.message;
}

}  // namespace

Asked prepare(const Call& call, const Body& body) {
  Asked asked;
  asked.refs = read_refs(body);
  auto place = choose_session(call, body, asked.refs);
  asked.session = place.session;
  asked.fresh = place.fresh;
  asked.current = asked.refs.current;
  asked.attached = attach(call, asked.session, asked.refs);
  for (const auto& ref : asked.refs.all) {
    bool read_only = false;
    try {
      read_only = is_read_only(need_session(call, ref.session));
    } catch (const Error&) {
      // A session of another principal cannot be marked read-only for this actor.
    }
    asked.read_only.push_back(read_only);
  }
  call.request.mounted_folder = asked.session.folder;  // of the session that runs the code
  return asked;
}

Json result_json(const Execution& execution, const Asked& asked, const std::string& base_url) {
  auto shown = output_text(execution, asked.session);
  // Returns printed text unchanged, because helpers parse it. A cell that printed nothing returns its value.
  std::string printed = shown.printed;
  if (printed.empty() && shown.value) printed = *shown.value + "\n";
  // The client shows the model only these two texts, not the exit status.
  if (printed.empty() && shown.errors.empty() && execution.outcome != Outcome::ok)
    shown.errors = reason_of_end(execution) + "\n";
  for (const auto& file : asked.attached)
    if (!file.problem.empty()) shown.errors += file.problem.text(mounted_paths(asked.session.folder)) + "\n";
  std::vector<bool> seen(asked.attached.size(), false);
  Json files = written_files(execution, asked, base_url, seen);
  if (asked.current) add_inherited(files, asked, seen);
  Json deleted = Json::array();
  for (const auto& path : execution.files.deleted) deleted.push_back(name_in(asked.session, path));
  auto session = asked.session.id.base64url21();
  Json out = {{"session_id", session},
              {"storage_session_id", session},
              {"stdout", printed},
              {"stderr", shown.errors},
              {"files", files},
              {"deleted_files", deleted},
              {"runtime_session_id", session},
              {"runtime_status", asked.fresh || execution.woke ? "new" : "reused"},
              {"woke", execution.woke},
              {"wall_time", execution.timings.value("run_us", int64_t{0}) / 1000}};
  add_ending(out, execution);
  return out;
}

}  // namespace sk::api::librechat
