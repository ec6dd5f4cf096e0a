// One request on its way through a dialect: who asks, what was sent (already checked against the operation's
// description), and the ways to what it asks for. Lives as long as the request; one thread at a time.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "api/app.h"
#include "api/common/authenticate.h"
#include "api/common/fields.h"
#include "api/common/operation.h"
#include "http/message.h"
#include "workspace/types.h"

namespace sk::api {

class Call {
 public:
  // Remembers the references only; prepare() does the work, so that what it throws can be noted.
  Call(App& the_app, const Operation& the_operation, http::Request& the_request)
      : app(the_app), operation(the_operation), request(the_request) {}

  // Authenticates as the operation asks, then reads query and body.
  void prepare();

  App& app;
  const Operation& operation;
  http::Request& request;
  std::optional<Credential> credential;
  workspace::Actor actor;  // without principal where nobody needed to say who it is
  Query query;
  Body body;                         // of JSON
  Query form;                        // of a page's form
  std::vector<std::string> ignored;  // unknown fields and parameters, where the operation is lenient

  // The workspace that {ws} names. A foreign one is Error(not_found). Its figures may be old.
  workspace::Authority open_workspace(workspace::Right right = workspace::Right::read);
  // The same, to show how full it is.
  workspace::Authority open_workspace_with_figures();
  // For a name or id that stands elsewhere.
  workspace::Authority open_workspace(std::string_view id_or_name, workspace::Right right);
  // What administrators may also see of workspaces that are not theirs: Workspaces::look_at().
  workspace::Authority look_at_workspace();
  // {path...} as a clean path; the second for paths that must not be the root.
  std::string path() const;
  std::string file_path() const;
  // Error(forbidden) unless the actor manages the server, with a key that is not bound to one workspace.
  void need_admin() const;
  // How many items a page may have: `limit`, from 1 to `most`.
  size_t limit(uint64_t most) const;

  // Whether the client would rather have an event stream, by its Accept.
  bool wants_stream() const;

  // Asks again who it is, for replies that come much later: throws once the key was revoked or ran out.
  // Outlives the Call.
  std::function<workspace::Actor()> renewer() const;

  // A read for the access log; `target` is a path or an id.
  void note(std::string_view action, std::string target) const;
  // A failed attempt for the access log, if the error is one that tells of a missing right.
  void note_denied(const Error& error) const;

 private:
  void write_note(std::string_view action, std::string target, std::string_view outcome) const;

  Id workspace_;  // that open_workspace() found last, for notes
};

}  // namespace sk::api
