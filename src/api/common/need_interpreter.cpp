#include "api/common/need_interpreter.h"

#include "base/error.h"

namespace sk::api {

interpreter::Interpreter& need_interpreter(const App& app) {
  if (app.interpreter == nullptr)
    throw Error(Code::unavailable, app.why_no_sessions)
        .hint("The message says what is missing on the server; ask its operator.");
  return *app.interpreter;
}

Fields force_field() {
  return {{.name = "force",
           .type = FieldType::boolean,
           .about = "Also when it has files that could not be kept: they are lost."}};
}

interpreter::Interpreter::OnUnkept unkept_by(const Query& query) {
  return query.flag("force") ? interpreter::Interpreter::OnUnkept::discard
                             : interpreter::Interpreter::OnUnkept::refuse;
}

interpreter::SessionBook session_book(const App& app) {
  return interpreter::SessionBook(app.keep, app.interpreter);
}

}  // namespace sk::api
