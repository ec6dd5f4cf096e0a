// Runs code in a container. OpenAI has no such call outside of its models, so this is an extension. The
// answer resembles the `code_interpreter_call` item of a response, with the files that the code wrote.
#include "api/common/await.h"
#include "api/common/need_interpreter.h"
#include "api/common/repeats.h"
#include "api/openai/openai.h"
#include "api/openai/shapes.h"
#include "api/vendor/containers.h"
#include "api/vendor/error_words.h"
#include "api/vendor/ignored.h"
#include "api/vendor/output_text.h"
#include "base/text.h"
#include "workspace/links.h"

namespace sk::api::openai {

namespace {

using http::Reply;
using interpreter::Execution;
using interpreter::Outcome;
using interpreter::RunningExecution;
using interpreter::SessionInfo;

constexpr size_t kFilesInAnswerMax = 1'000;

// The inputs of an answer that outlive the request.
struct Answering {
  SessionInfo container;
  std::string base_url;
  std::vector<std::string> ignored;
};

void add_logs(Json& outputs, const std::string& text) {
  if (text.empty()) return;
  if (!outputs.empty() && outputs.back()["type"] == "logs")
    outputs.back()["logs"].get_ref<std::string&>() += text;
  else
    outputs.push_back({{"type", "logs"}, {"logs", text}});
}

// Starts a new line, since the printed text before it may have been cut anywhere.
void add_note(Json& outputs, const std::string& text) {
  bool follows_text = !outputs.empty() && outputs.back()["type"] == "logs" &&
                      !outputs.back()["logs"].get_ref<const std::string&>().ends_with('\n');
  add_logs(outputs, (follows_text ? "\n" : "") + text + "\n");
}

// Adds a figure as a data URI. A figure that is too large becomes the link of the file it was kept as.
void add_bundle(Json& outputs, const interpreter::Bundle& bundle, const Execution& execution,
                const std::string& base_url) {
  for (auto mime : {"image/png", "image/jpeg", "image/gif", "image/webp"}) {
    const auto* image = bundle.find(mime);
    if (image == nullptr) continue;
    std::string url = std::string("data:") + mime;
    url.append(";base64,").append(*image);
    outputs.push_back({{"type", "image"}, {"url", std::move(url)}});
    return;
  }
  for (const auto& kept : execution.files.kept) {
    if (!bundle.is_cut || kept.path != bundle.file) continue;
    auto url = base_url + workspace::Links::path_of(kept.version, kept.path);
    outputs.push_back({{"type", "image"}, {"url", std::move(url)}});
    return;
  }
  if (const auto* text = bundle.find("text/plain")) add_logs(outputs, *text + "\n");
}

Json outputs_json(const Execution& execution, const Answering& answering) {
  Json outputs = Json::array();
  const auto as_mounted = mounted_paths(answering.container.folder);
  interpreter::Visit add{
      [&](const interpreter::TextOutput& text) { add_logs(outputs, text.text); },
      [&](const interpreter::NoteOutput& note) { add_note(outputs, note.text.text(as_mounted)); },
      [&](const interpreter::ErrorOutput& error) { add_logs(outputs, error.traceback + "\n"); },
      [&](const auto& shown) { add_bundle(outputs, shown.bundle, execution, answering.base_url); }};
  for (const auto& output : execution.outputs) std::visit(add, output);
  for (const auto& line : lines_about_versions(execution, as_mounted)) add_note(outputs, line);
  return outputs;
}

Json files_json(const Execution& execution, const Answering& answering) {
  Json files = Json::array();
  const size_t shown = execution.files.kept_to_show(kFilesInAnswerMax);
  for (size_t i = 0; i < shown; ++i) {
    const auto& kept = execution.files.kept[i];
    workspace::Version version;
    version.id = kept.version;
    version.path = kept.path;
    version.size = kept.size;
    version.created_us = execution.ended_us;
    version.source.kind = "execution";
    files.push_back(container_file_json(answering.container, version, answering.base_url));
  }
  return files;
}

Json error_of(const Execution& execution) {
  if (execution.outcome == Outcome::ok) return nullptr;
  // For a stopped program, the reason of the stop says more than the exception that ended it.
  if (execution.outcome == Outcome::error)
    if (const auto* error = interpreter::error_in(execution.outputs))
      return {{"name", error->name}, {"message", error->value}};
  return {{"name", outcome_name(execution)}, {"message", reason_of_end(execution)}};
}

Json exec_json(const Execution& execution, const Answering& answering) {
  // A program that raises an exception still completes. A stopped program does not.
  bool whole = execution.outcome == Outcome::ok || execution.outcome == Outcome::error;
  const auto as_mounted = mounted_paths(answering.container.folder);
  Json not_kept = Json::array();
  for (const auto& item : execution.files.not_kept)
    not_kept.push_back({{"path", as_mounted(item.path)},
                        {"reason", name_of(item.reason)},
                        {"message", item.message.text(as_mounted)}});
  return {{"id", execution.id.with_prefix("ci_")},
          {"object", "container.exec"},
          {"container_id", answering.container.id.with_prefix(kContainerPrefix)},
          {"status", whole ? "completed" : "incomplete"},
          {"code", execution.code},
          {"outputs", outputs_json(execution, answering)},
          {"error", error_of(execution)},
          {"files", files_json(execution, answering)},
          {"files_more", execution.files.kept.size() > execution.files.kept_to_show(kFilesInAnswerMax)},
          {"not_kept", std::move(not_kept)},
          {"woke", execution.woke}};
}

Reply wait_for(const AfterCall& call, const RunningExecution& running, const Answering& answering) {
  auto answer = [joined = running.joined, answering](const Execution& execution) {
    auto reply = Reply::json(exec_json(execution, answering));
    if (joined) reply.headers.set(std::string(kReplayedHeader), "true");
    add_ignored(reply, answering.ignored);
    return reply;
  };
  // A client that disconnected, perhaps after a timeout, is likely to repeat the request soon.
  auto unanswered = [&interpreter = call.app.interpreter, id = running.id] {
    interpreter.note_unanswered(id);
  };
  return await(call, running, {.answer = answer, .on_unanswered = unanswered});
}

Reply exec(Call& call) {
  auto container = living_container_of(call);
  interpreter::NewExecution wanted;
  wanted.base_url = call.request.base_url;
  wanted.code = call.body.need_text("code");
  wanted.language = call.body.text("language").value_or("python");
  if (auto seconds = call.body.integer("timeout_s"))
    wanted.timeout_s = within(*seconds, 1, call.app.settings.execution_timeout_max_s, "timeout_s");
  read_openai_repeat(call.request.headers, wanted);
  auto& interpreter = need_interpreter(call.app);
  call.hold_connection();
  auto queued = interpreter.execute(session_authority(call.app, call.actor, container.id), container.id,
                                    std::move(wanted));
  return when_known<RunningExecution>(
      call, queued,
      [after = AfterCall(call), answering = Answering{container, call.request.base_url, call.ignored}](
          const RunningExecution& running) { return wait_for(after, running, answering); },
      [&interpreter](const RunningExecution& running) { interpreter.note_unanswered(running.id); });
}

}  // namespace

void add_exec_routes(Routes& routes, const OpenAiMount& mount) {
  auto run = operation(mount, "POST", "/containers/{container}/exec", "exec");
  run.body_kind = BodyKind::json;
  run.body = {{.name = "code", .about = "A cell, as in a notebook.", .required = true},
              {.name = "language", .about = "Default: `python`.", .choices = {"python", "bash"}},
              {.name = "timeout_s", .type = FieldType::integer, .about = "Timeout in seconds."}};
  run.takes_idempotency_key = true;
  routes.add(std::move(run), exec);
}

}  // namespace sk::api::openai
