// The tools of Azure's session pools, so that this server can be an agent's custom code interpreter. An
// environment is a session; its files are in a folder of the default workspace.
#include "api/common/fields.h"
#include "api/common/need_interpreter.h"
#include "api/mcp/hub.h"
#include "api/mcp/tools/run.h"
#include "api/mcp/tools/run_result.h"

namespace sk::api::mcp {

namespace {

using interpreter::Execution;
using interpreter::Outcome;

constexpr std::string_view kInstructions =
    "Call launchShell once, then run code with the environmentId that it returns. Files in /mnt/data are "
    "kept.";

ToolResult environment_result(const Execution& execution, const std::string& base_url) {
  auto result = run_result(execution, base_url);
  auto texts = run_texts(execution);
  auto error = texts.error.empty() ? "" : texts.error + "\n";
  bool is_python = execution.language == "python";
  result.structured["environmentId"] = execution.session.hex();
  result.structured["stdout"] = texts.out;
  result.structured["stderr"] = texts.err + error;
  result.structured["executionResult"] = texts.result;
  bool succeeded = execution.outcome == Outcome::ok;
  result.structured["exitCode"] = execution.exit_code.value_or(succeeded ? 0 : 1);
  result.structured["status"] = succeeded ? "Succeeded" : "Failed";
  result.is_error = !succeeded && (is_python || execution.outcome != Outcome::error);
  return result;
}

std::optional<ToolResult> launch(ToolCall& call) {
  interpreter::NewSession wanted;
  wanted.name = "azure";
  wanted.labels = {{"azure_mcp", true}};
  auto& interpreter = need_interpreter(call.app());
  auto authority = call.app().keep.workspaces().open_default(call.actor(), workspace::Right::write);
  auto session = interpreter.create(authority, wanted);
  ToolResult result;
  result.text = "environmentId: " + session.id.hex();
  result.structured = {{"environmentId", session.id.hex()}, {"id", session.id.hex()}};
  result.meta = {{"container_id", session.id.with_prefix("cntr_")}};
  return result;
}

std::optional<ToolResult> run_in(ToolCall& call, std::string_view language, std::string_view code_field) {
  auto environment = Id::from_hex(call.need_text("environmentId"));
  if (!environment)
    throw Error(Code::not_found, "there is no such environment").hint("Create one with launchShell.");
  interpreter::NewExecution wanted;
  wanted.code = call.need_text(code_field);
  wanted.language = language;
  return start_run(call, *environment, std::move(wanted),
                   [base_url = call.base_url()](const Execution& execution) {
                     return environment_result(execution, base_url);
                   });
}

std::optional<ToolResult> run_command(ToolCall& call) {
  // Clients use both names.
  return run_in(call, "bash", call.has("shellCommand") ? "shellCommand" : "command");
}

Json output() {
  return {{"environmentId", field::any("string")},
          {"stdout", field::any("string")},
          {"stderr", field::any("string")},
          {"executionResult", field::any("string")},
          {"exitCode", field::any("integer")}};
}

}  // namespace

Offer azure_offer() {
  auto environment = field::text("From launchShell.");
  Tools tools = {
      {.name = "launchShell",
       .title = "Launch an environment",
       .about =
           "Creates an isolated environment that runs shell commands and Python. Returns its environmentId.",
       .input = Json::object(),
       .output = {{"environmentId", field::any("string")}},
       .runs_code = true,
       .run = launch},
      {.name = "runPythonCodeInRemoteEnvironment",
       .title = "Run Python",
       .about = "Runs Python code in an environment. Variables persist between calls.",
       .input = {{"environmentId", environment},
                 {"pythonCode", field::text("The code to run.", "print(1 + 1)")}},
       .required = {"environmentId", "pythonCode"},
       .output = output(),
       .destroys = true,
       .runs_code = true,
       .run = [](ToolCall& call) { return run_in(call, "python", "pythonCode"); }},
      {.name = "runShellCommandInRemoteEnvironment",
       .title = "Run a shell command",
       .about = "Runs a shell command in an environment.",
       .input = {{"environmentId", environment},
                 {"shellCommand", field::text("The command to run.", "ls /mnt/data")},
                 {"command", field::text("The same.")}},
       .required = {"environmentId"},
       .output = output(),
       .destroys = true,
       .runs_code = true,
       .run = run_command},
  };
  return {.name = "Microsoft Container Apps MCP Server",
          .title = "Sandkeep",
          .instructions = std::string(kInstructions),
          .tools = std::move(tools),
          .has_sessions = false,
          .has_resources = false};
}

}  // namespace sk::api::mcp
