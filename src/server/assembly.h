// Creates all parts of the server in the order of its methods and destroys them in reverse. Each part gets
// references to earlier parts.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "api/app.h"
#include "base/clock.h"
#include "base/metrics.h"
#include "followers/followers.h"
#include "http/server.h"
#include "interpreter/interpreter.h"
#include "sandbox/host.h"
#include "server/first_key.h"
#include "server/privileges.h"
#include "server/server.h"
#include "server/settings.h"
#include "server/tls_files.h"
#include "workspace/keep.h"

namespace sk::server {

// One thread. The arguments of the constructor outlive it. Call provision(), recover() and listen() once
// each, in this order. They throw errors that prevent the start.
class Assembly {
 public:
  Assembly(const Settings& settings, PreparedSandbox sandbox, const Clock& clock,
           const api::mcp::Extension* mcp_extension)
      : settings_(settings), sandbox_(std::move(sandbox)), clock_(clock), mcp_extension_(mcp_extension) {}
  ~Assembly() { stop(); }
  Assembly(const Assembly&) = delete;
  Assembly& operator=(const Assembly&) = delete;

  // Creates or opens the data on disk (data folder, catalog, first key, certificate) and binds the listening
  // address. Error(conflict) if another server uses the data folder.
  void provision();
  // Stores files that sessions of a killed server had written, and resumes the executions that it had
  // accepted. If code cannot run, the server gets an interpreter that refuses with the reason.
  void recover();
  // Answers requests until stop(), and starts the background work.
  void listen();
  // Lets active requests finish, writes pending data and ends all threads. Idempotent.
  void stop();

  // Valid after provision().
  const FirstKey& first_key() const { return first_key_; }
  const std::string& authority_file() const { return tls_.authority_file; }
  // Valid after recover().
  Listening::Code code() const;
  // Valid after listen(): the listening address, such as "http://127.0.0.1:8420".
  std::string url() const;

 private:
  std::unique_ptr<interpreter::Interpreter> make_interpreter();

  const Settings& settings_;
  PreparedSandbox sandbox_;  // moved into sandboxes_
  const Clock& clock_;
  const api::mcp::Extension* const mcp_extension_;  // null: none
  Metrics metrics_;
  std::optional<workspace::Keep> keep_;
  FirstKey first_key_;
  TlsFiles tls_;
  std::optional<http::Listener> listener_;           // moved into server_
  std::unique_ptr<sandbox::SandboxHost> sandboxes_;  // null if no code runs
  std::unique_ptr<interpreter::Interpreter> interpreter_;
  std::optional<api::App> app_;
  std::optional<followers::Followers> followers_;
  std::optional<http::Server> server_;
};

}  // namespace sk::server
