// The application behind HTTP: what every dialect needs, and the router that mounts them all.
#pragma once

#include <string>

#include "api/common/background.h"
#include "api/common/sessions.h"
#include "api/settings.h"
#include "base/jwt.h"
#include "base/metrics.h"
#include "bridge/captures.h"
#include "http/server.h"
#include "interpreter/interpreter.h"
#include "workspace/keep.h"

namespace sk::api {

// Made by main after the keep and before the server, destroyed between them: it outlives the server, whose
// handlers use it, and the keep and the metrics outlive it. Any thread.
class App {
 public:
  App(workspace::Keep& the_keep, Settings the_settings, Metrics& the_metrics, std::string the_version);

  workspace::Keep& keep;
  const Settings settings;
  Metrics& metrics;
  // Null where no code may run (--sandbox=off) or can (why_no_sessions says why); set before the server
  // starts.
  interpreter::Interpreter* interpreter = nullptr;
  std::string why_no_sessions = "this server runs no code: it was started with --sandbox=off";
  const std::string version;  // of the program, as answers and pages show it
  const Clock& clock;
  std::optional<JwtVerifier> librechat_tokens;  // unset where LibreChat signs none for us
  Sessions sessions;                            // of people signed in to the page
  bridge::Captures captures;                    // files of messages that are elsewhere
  Background background;                        // last: its threads use all of the above

  // Ends background work, so that replies that wait for it are given up. After the server has stopped;
  // idempotent.
  void stop() {
    captures.stop();
    background.stop();
  }
};

// All routes. `app` outlives the router.
http::Router make_router(App& app);

}  // namespace sk::api
