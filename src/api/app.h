// The application behind HTTP: the objects that every dialect needs, and the router that mounts all dialects.
#pragma once

#include <string>

#include "api/common/held_connections.h"
#include "api/common/rates.h"
#include "api/common/sign_ins.h"
#include "api/common/top.h"
#include "api/settings.h"
#include "api/vendor/given_files.h"
#include "base/background.h"
#include "base/memory_budget.h"
#include "base/metrics.h"
#include "bridge/captures.h"
#include "conversations/conversations.h"
#include "http/server.h"
#include "identity/jwt.h"
#include "interpreter/interpreter.h"
#include "interpreter/workspace_purger.h"
#include "workspace/keep.h"

namespace sk::api {

namespace mcp {
class Extension;
}

// `main` constructs the App after the keep and before the server. It destroys the App after the server, whose
// handlers use it, and before the keep. The constructor arguments must outlive the App. Any thread.
class App {
 public:
  App(workspace::Keep& the_keep, interpreter::Interpreter& the_interpreter, DialectSettings the_settings,
      Metrics& the_metrics, std::string the_version, const mcp::Extension* the_mcp_extension = nullptr);

  workspace::Keep& keep;
  interpreter::Interpreter& interpreter;
  const DialectSettings settings;
  Metrics& metrics;
  const std::string version;                  // version of the program, shown in replies and on pages
  const mcp::Extension* const mcp_extension;  // null: none
  const Clock& clock;
  std::optional<identity::JwtVerifier> librechat_tokens;  // unset: LibreChat's tokens are not accepted
  Rates rates;                                            // of requests
  SignIns sign_ins;                                       // of people signed in to the page
  HeldConnections held_connections;                       // by streams and by requests that wait
  MemoryBudget json_memory;                               // for the values of JSON bodies
  MemoryBudget mcp_memory;                                // for messages that MCP's sessions store
  GivenFiles given_files;                                 // of the Files APIs of other vendors
  conversations::Conversations conversations;
  bridge::Captures captures;  // downloads files that messages refer to
  Top top;                    // figures for operators
  interpreter::WorkspacePurger workspace_purger;
  Background background;  // last member: its threads use all members above

  // Ends captures that an earlier server process left pending. Call once, before serving.
  void recover() { captures.recover(); }
  // Starts the timers. Call once, when the server answers requests.
  void start_background() {
    retract_due_later();
    workspace_purger.finish_begun();
  }
  // Stops background work, which gives up the replies that wait for it. Call after the server has stopped;
  // idempotent.
  void stop() {
    captures.stop();
    background.stop();
  }

 private:
  void retract_due_later();
};

// Throws Error(bad_request) when a file that the settings name is not usable.
void check_settings(const DialectSettings& settings);

// Returns a router with all routes. `app` outlives the router.
http::Router make_router(App& app);

}  // namespace sk::api
