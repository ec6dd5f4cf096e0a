// The whole server, put together in the order of its methods. Each part is given those before it, and all end
// in reverse.
#pragma once

#include <memory>
#include <optional>
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

// One thread. `settings` and `clock` outlive it. Each of the first three methods is called once, in this
// order, and throws what keeps the server from starting.
class Assembly {
 public:
  Assembly(const Settings& settings, const Clock& clock) : settings_(settings), clock_(clock) {}
  ~Assembly() { stop(); }
  Assembly(const Assembly&) = delete;
  Assembly& operator=(const Assembly&) = delete;

  // Makes or opens what is on disk (data folder, catalog, first key, certificate) and takes the address.
  // Error(conflict) when another server has the data folder.
  void provision();
  // Keeps what sessions of a killed server had written, and takes up the work that it had accepted. Where
  // code cannot run, the server gets an interpreter that refuses with the reason.
  void recover();
  // Answers requests, from here until stop(), and starts the background work.
  void listen();
  // Lets requests under way finish, writes what is pending, ends all threads. Idempotent.
  void stop();

  // After provision().
  const FirstKey& first_key() const { return first_key_; }
  const std::string& authority_file() const { return tls_.authority_file; }
  // After listen(): "http://127.0.0.1:8420", where it listens.
  std::string url() const;

 private:
  std::unique_ptr<interpreter::Interpreter> make_interpreter();

  const Settings& settings_;
  const Clock& clock_;
  Metrics metrics_;
  std::optional<workspace::Keep> keep_;
  FirstKey first_key_;
  TlsFiles tls_;
  std::optional<http::Listener> listener_;           // moved into server_
  std::unique_ptr<sandbox::SandboxHost> sandboxes_;  // null where no code runs
  std::unique_ptr<interpreter::Interpreter> interpreter_;
  std::optional<api::App> app_;
  std::optional<http::Server> server_;
};

}  // namespace sk::server
