#include "api/common/need_interpreter.h"

namespace sk::api {

interpreter::Interpreter& need_interpreter(const App& app) {
  app.interpreter.require_code();
  return app.interpreter;
}

Fields force_field() {
  return {{.name = "force",
           .type = FieldType::boolean,
           .about = "Delete the session even if it has files that could not be kept. They are lost."}};
}

interpreter::Interpreter::OnUnkept unkept_by(const Query& query) {
  return query.flag("force") ? interpreter::Interpreter::OnUnkept::discard
                             : interpreter::Interpreter::OnUnkept::refuse;
}

interpreter::SessionDirectory session_directory(const App& app) {
  return interpreter::SessionDirectory(app.keep, app.interpreter);
}

workspace::Authority session_authority(const App& app, const workspace::Actor& actor, const Id& session) {
  return session_directory(app).authority_over(actor, session);
}

}  // namespace sk::api
