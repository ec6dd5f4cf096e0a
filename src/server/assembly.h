// The whole server, wired in order: each part is given those before it, and all end in reverse. The
// interpreter stands between the keep and the dialects.
#pragma once

#include <memory>
#include <string>

#include "api/app.h"
#include "base/clock.h"
#include "base/metrics.h"
#include "http/server.h"
#include "interpreter/interpreter.h"
#include "sandbox/host.h"
#include "server/first_key.h"
#include "server/settings.h"
#include "server/tls_files.h"
#include "workspace/keep.h"

namespace sk::server {

// Answers from the end of its constructor until stop(). Made and stopped by one thread.
class Assembly {
 public:
  // Throws Error(conflict) when another server has the data folder, and whatever else keeps it from starting.
  Assembly(const Settings& settings, const Clock& clock);
  ~Assembly();
  Assembly(const Assembly&) = delete;
  Assembly& operator=(const Assembly&) = delete;

  const FirstKey& first_key() const { return first_key_; }
  const std::string& authority_file() const { return tls_.authority_file; }
  // "http://127.0.0.1:8420", where it listens.
  std::string url() const;

  // Lets requests under way finish, writes what is pending, ends all threads. Idempotent.
  void stop();

 private:
  void start_interpreter();
  http::Router router();

  const Settings& settings_;
  const bool fresh_;  // asked before the keep is opened, hence first
  Metrics metrics_;
  workspace::Keep keep_;
  const FirstKey first_key_;
  const TlsFiles tls_;
  http::Listener
      listener_;  // moved into server_; taken before anything is started that would have to end again
  std::unique_ptr<sandbox::SandboxHost> sandboxes_;        // null where no code runs
  std::unique_ptr<interpreter::Interpreter> interpreter_;  // null likewise
  api::App app_;
  http::Server server_;
};

// What the keep and the HTTP server are told of the settings.
workspace::KeepOptions keep_options(const Settings& settings);
http::ServerOptions server_options(const Settings& settings, const TlsFiles& tls);
interpreter::InterpreterOptions interpreter_options(const Settings& settings);
api::Settings api_settings(const Settings& settings);

}  // namespace sk::server
