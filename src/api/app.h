// The application behind HTTP: what every dialect needs, and the router that mounts them all.
#pragma once

#include <string>

#include "api/common/background.h"
#include "api/common/sessions.h"
#include "api/settings.h"
#include "base/metrics.h"
#include "bridge/captures.h"
#include "conversations/conversations.h"
#include "http/server.h"
#include "identity/jwt.h"
#include "interpreter/interpreter.h"
#include "workspace/keep.h"

namespace sk::api {

// Made by main after the keep and before the server, destroyed between them: it outlives the server, whose
// handlers use it, and what its constructor is given outlives it. Any thread.
class App {
 public:
  App(workspace::Keep& the_keep, interpreter::Interpreter& the_interpreter, Settings the_settings,
      Metrics& the_metrics, std::string the_version);

  workspace::Keep& keep;
  interpreter::Interpreter& interpreter;
  const Settings settings;
  Metrics& metrics;
  const std::string version;  // of the program, as answers and pages show it
  const Clock& clock;
  std::optional<identity::JwtVerifier> librechat_tokens;  // unset where LibreChat signs none for us
  Sessions sessions;                                      // of people signed in to the page
  conversations::Conversations conversations;
  bridge::Captures captures;  // files of messages that are elsewhere
  Background background;      // last: its threads use all of the above

  // Ends what an earlier server left pending. Call once, before serving.
  void recover() { captures.recover(); }
  // Ends background work, so that replies that wait for it are given up. After the server has stopped;
  // idempotent.
  void stop() {
    captures.stop();
    background.stop();
  }
};

// Throws Error(bad_request) for a file that the settings name and that cannot be used.
void check_settings(const Settings& settings);

// All routes. `app` outlives the router.
http::Router make_router(App& app);

}  // namespace sk::api
