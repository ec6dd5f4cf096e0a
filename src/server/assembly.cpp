#include "server/assembly.h"

#include <filesystem>

#include "base/error.h"
#include "base/log.h"
#include "base/version.h"
#include "interpreter/refusing_interpreter.h"
#include "interpreter/sandboxed_interpreter.h"
#include "server/options.h"

namespace sk::server {

namespace {

// Time for sending the answers of executions that the stop ended.
constexpr std::chrono::seconds kLastAnswersMost{5};

}  // namespace

void Assembly::provision() {
  api::check_settings(api_settings(settings_));
  auto type_of_bytes = [types = sandbox_.types.get()](std::string_view bytes) {
    return types->type_of(bytes);
  };
  keep_.emplace(keep_options(settings_, type_of_bytes), clock_, metrics_);
  first_key_ = ensure_first_key(*keep_, settings_);
  tls_ = prepare_tls(settings_, settings_.data, clock_);
  // Bind before starting anything that would have to be stopped on failure.
  listener_.emplace(settings_.listen.host, settings_.listen.port);
}

void Assembly::recover() {
  interpreter_ = make_interpreter();
  app_.emplace(*keep_, *interpreter_, api_settings(settings_), metrics_, std::string(kVersion),
               mcp_extension_);
  app_->recover();
  followers_.emplace(*keep_, app_->conversations, *interpreter_, metrics_);
}

void Assembly::listen() {
  auto router = api::make_router(*app_);
  followers_->start();
  server_.emplace(std::move(*listener_), http_options(settings_, tls_), std::move(router), metrics_);
  app_->top.watch(*server_);
  keep_->start_background();
  app_->start_background();
}

void Assembly::stop() {
  if (!server_) return;  // destructors end the parts created so far
  interpreter_->close();
  app_->background.close();
  auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(settings_.drain_timeout_s);
  auto left = [&] {
    return std::chrono::duration_cast<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
  };
  server_->drain(left());
  interpreter_->await_executions(left());
  // Interrupt code that still runs. Its clients get an answer in their dialect.
  interpreter_->end_sessions();
  server_->stop(kLastAnswersMost);
  keep_->revocations().stop();  // its calls use the app
  followers_->stop();
  app_->stop();
  interpreter_->stop();
  keep_->stop();
}

// If code cannot run safely, none runs, but files are still served.
std::unique_ptr<interpreter::Interpreter> Assembly::make_interpreter() {
  using interpreter::RefusingInterpreter, interpreter::SandboxedInterpreter;
  if (settings_.sandbox == SandboxMode::off)
    return std::make_unique<RefusingInterpreter>(*keep_, sandbox_.why_not);
  std::string why = sandbox_.why_not;
  try {
    if (sandbox_.host) {
      sandboxes_ = std::make_unique<sandbox::SandboxHost>(std::move(*sandbox_.host), metrics_);
      auto made = std::make_unique<SandboxedInterpreter>(*keep_, *sandboxes_, interpreter_options(settings_),
                                                         metrics_);
      made->recover();
      made->resume_accepted();
      return made;
    }
  } catch (const Error& error) {
    why = error.message();
  } catch (const std::filesystem::filesystem_error& error) {
    why = error.what();
  }
  sandboxes_.reset();
  log::error("code cannot run here; files are served anyway", {{"why", why}});
  return std::make_unique<RefusingInterpreter>(*keep_, why);
}

Listening::Code Assembly::code() const {
  if (!interpreter_->runs_code()) return Listening::Code::none;
  return interpreter_->has_exact_limits() ? Listening::Code::exact_limits
                                          : Listening::Code::approximate_limits;
}

std::string Assembly::url() const {
  bool is_v6 = settings_.listen.host.find(':') != std::string::npos;
  auto host = is_v6 ? "[" + settings_.listen.host + "]" : settings_.listen.host;
  return (tls_.cert_pem.empty() ? "http://" : "https://") + host + ":" + std::to_string(server_->port());
}

}  // namespace sk::server
