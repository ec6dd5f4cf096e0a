// One request inside a dialect: the actor, the validated query and body, and helpers to open what the request
// names. Lives as long as the request; one thread at a time.
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
  // Only stores the references. prepare() does the work, so that its errors can go to the access log.
  Call(App& the_app, const Operation& the_operation, http::Request& the_request)
      : app(the_app), operation(the_operation), request(the_request) {}

  // Authenticates as the operation requires. Throws Error.
  void authenticate_actor();
  // Sets the actor of this call, and counts the request for its key and principal. Error(too_many_requests)
  // over their rate.
  void act_as(workspace::Actor authenticated);
  // As authenticate_actor(), then parses and validates query and body.
  void prepare();

  App& app;
  const Operation& operation;
  http::Request& request;
  std::optional<Credential> credential;
  workspace::RightsMoment checked;  // before the key was checked
  workspace::Actor actor;           // without principal when the operation needs no authentication
  Query query;
  Body body;                         // fields of a JSON body
  Query form;                        // fields of a page's form
  std::vector<std::string> ignored;  // unknown fields and parameters of a lenient operation

  // Opens the workspace that {ws} names. Error(not_found) when the actor has no access. Its usage figures may
  // be stale.
  workspace::Authority open_workspace(workspace::Right right = workspace::Right::read);
  // As above, with current usage figures.
  workspace::Authority open_workspace_with_figures();
  // Opens a workspace whose name or id is not in {ws}.
  workspace::Authority open_workspace(std::string_view id_or_name, workspace::Right right);
  // Opens a workspace that administrators may see without being members; see Workspaces::look_at().
  workspace::Authority look_at_workspace();
  // {path...} as a normalized path. file_path() also rejects the root.
  std::string path() const;
  std::string file_path() const;
  // Error(forbidden) unless the actor is an administrator and the key is not bound to one workspace.
  void need_admin() const;
  // Returns the page size: the `limit` parameter, from 1 to `most`; `most` when absent.
  size_t limit(uint64_t most) const;

  // Watches the right with which the last workspace was opened; that of the key when none was.
  workspace::RightWatch watch_opened() const;
  // Claims memory for the values of a JSON body until this call ends. Error(unavailable) when there is none.
  JsonClaim json_claim();

  // Returns whether the Accept header asks for an event stream.
  bool wants_stream() const;

  // Returns a function that authenticates again, for replies that come much later. It throws once the key is
  // revoked or has expired. The function may outlive the Call.
  std::function<workspace::Actor()> renewer() const;

  // Counts the connection of this request as held by its principal, or by its address without one, until the
  // reply is sent. Call it before work begins whose reply is deferred or a stream, because its client must
  // not be refused afterwards. Error(too_many_requests) when the principal holds too many. Later calls have
  // no effect.
  void hold_connection();
  // Makes a reply that lasts keep the connection's place. Other replies are not changed. Throws like
  // hold_connection().
  void hold_while_it_lasts(http::Reply& reply);

  // Records a read in the access log. `target` is a path or an id.
  void note(std::string_view action, std::string target) const;
  // Records a failed attempt in the access log if the error means a missing right.
  void note_denied(const Error& error) const;

 private:
  void write_note(std::string_view action, std::string target, std::string_view outcome) const;

  Id workspace_;  // the last workspace opened; recorded with notes
  std::optional<std::pair<workspace::Authority, workspace::Right>> opened_;
  MemoryBudget::Share json_memory_{app.json_memory};
  std::shared_ptr<void> held_connection_;
};

}  // namespace sk::api
