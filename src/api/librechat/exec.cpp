// POST /exec: runs Python or a shell script and replies when it has ended.
#include "api/common/await.h"
#include "api/common/need_interpreter.h"
#include "api/librechat/librechat.h"
#include "api/librechat/result.h"

namespace sk::api::librechat {

namespace {

using http::Reply;

std::string shell_quote(std::string_view text) {
  std::string out = "'";
  for (char c : text) {
    if (c == '\'')
      out += "'\\''";
    else
      out += c;
  }
  return out + "'";
}

// Prepends a line that sets the program's arguments. Without arguments, the code is unchanged.
std::string with_arguments(const std::string& code, const std::vector<std::string>& arguments,
                           const std::string& language) {
  if (arguments.empty()) return code;
  std::string line;
  if (language == "bash") {
    line = "set --";
    for (const auto& one : arguments) line += " " + shell_quote(one);
  } else {
    // A JSON list of strings is a valid Python list of strings.
    line = "import sys; sys.argv[1:] = " + to_text(Json(arguments));
  }
  return line + "\n" + code;
}

Reply execute(Call& call) {
  interpreter::NewExecution wanted;
  wanted.base_url = call.request.base_url;
  wanted.language = language_of(call.body.need_text("lang"));
  wanted.code = with_arguments(call.body.need_text("code"), call.body.texts("args"), wanted.language);
  call.hold_connection();
  auto asked = std::make_shared<const Asked>(prepare(call, call.body));
  auto& interpreter = need_interpreter(call.app);
  auto queued = interpreter.execute(session_authority(call.app, call.actor, asked->session.id),
                                    asked->session.id, std::move(wanted));
  auto answer = [asked, base_url = call.request.base_url](const interpreter::Execution& execution) {
    return Reply::json(result_json(execution, *asked, base_url));
  };
  return when_known<interpreter::RunningExecution>(
      call, queued, [after = AfterCall(call), answer](const interpreter::RunningExecution& running) {
        return await(after, running, {.answer = answer});
      });
}

}  // namespace

void add_exec_routes(Mounts& mounts) {
  mounts.add(
      {.method = "POST",
       .pattern = "/exec",
       .id = "librechat_exec",
       .tag = "librechat",
       .summary = "Runs code",
       .body_kind = BodyKind::json,
       .body = {{.name = "lang", .about = "py or bash.", .required = true},
                {.name = "code", .about = "The code to run.", .required = true},
                {.name = "args", .type = FieldType::text_list, .about = "Arguments of the program."},
                {.name = "session_id", .about = "The session to run it in."},
                {.name = "runtime_session_hint", .about = "A name for the session."},
                {.name = "user_id", .about = "LibreChat's user. Ignored: the key identifies the caller."},
                {.name = "entity_id", .about = "LibreChat's agent."},
                {.name = "files",
                 .type = FieldType::object_list,
                 .about = "Files to copy into the session."}}},
      execute);
}

}  // namespace sk::api::librechat
