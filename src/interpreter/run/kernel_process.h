// One kernel in its sandbox, as a runner uses it. start_in_sandbox() creates the real one. Tests use a fake,
// so that the handling of a kernel's behaviour is tested without a sandbox.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "interpreter/options.h"
#include "interpreter/types.h"
#include "sandbox/host.h"
#include "sandbox/kernel.h"
#include "sandbox/meter.h"

namespace sk::interpreter {

// One thread at a time, except freeze(). The methods behave and fail like those of sandbox::Kernel and
// sandbox::Session.
class KernelProcess {
 public:
  virtual ~KernelProcess() = default;

  // Readable when on_ready() has work; on_ready() calls the KernelEvents.
  virtual int poll_fd() const = 0;
  virtual void on_ready() = 0;
  virtual bool has_ended() const = 0;

  virtual void configure(const std::vector<std::pair<std::string, std::string>>& environment) = 0;
  virtual void execute(const std::string& id, std::string_view code, sandbox::Language language,
                       std::string_view tools) = 0;
  virtual void interrupt() = 0;
  virtual void reply(uint64_t request, const Json& value) = 0;
  virtual void refuse(uint64_t request, std::string_view code, std::string_view message) = 0;

  virtual void kill(sandbox::End end, std::string reason) = 0;
  [[nodiscard]] virtual bool wait_ended(int timeout_ms) const = 0;
  virtual void freeze() = 0;  // any thread
  virtual uint64_t processes_refused() const = 0;
  virtual uint64_t processes_max() const = 0;
  virtual std::vector<sandbox::OpenFile> files_open_for_writing() const = 0;
  virtual uint64_t bytes_of_deleted_files(uint64_t device) const = 0;  // any thread
  // Measures the sandbox from any thread; may outlive the kernel. Null where nothing can be measured.
  virtual std::shared_ptr<const sandbox::Meter> meter() const = 0;
};

// Returns the sandbox in which the session's code runs.
sandbox::SessionSpec sandbox_of(const SessionInfo& info, const InterpreterOptions& options);

// `host` and `events` outlive it. Any thread. Throws as SandboxHost::start() does.
std::unique_ptr<KernelProcess> start_in_sandbox(sandbox::SandboxHost& host, const sandbox::SessionSpec& spec,
                                                sandbox::KernelEvents& events);

}  // namespace sk::interpreter
