#include "interpreter/run/kernel_process.h"

namespace sk::interpreter {

namespace {

// Sparse files may appear this large, so that they are reported as too large instead of failing. The disk
// guard limits the space that files really use.
constexpr uint64_t kApparentBytesMax = 8ull << 40;

class SandboxedKernel final : public KernelProcess {
 public:
  SandboxedKernel(std::unique_ptr<sandbox::Session> session, sandbox::KernelEvents& events)
      : kernel_(std::move(session), events) {}

  int poll_fd() const override { return kernel_.poll_fd(); }
  void on_ready() override { kernel_.on_ready(); }
  bool has_ended() const override { return kernel_.has_ended(); }
  void configure(const std::vector<std::pair<std::string, std::string>>& environment) override {
    kernel_.configure(environment);
  }
  void execute(const std::string& id, std::string_view code, sandbox::Language language,
               std::string_view tools) override {
    kernel_.execute(id, code, language, tools);
  }
  void interrupt() override { kernel_.interrupt(); }
  void reply(uint64_t request, const Json& value) override { kernel_.reply(request, value); }
  void refuse(uint64_t request, std::string_view code, std::string_view message) override {
    kernel_.refuse(request, code, message);
  }
  void kill(sandbox::End end, std::string reason) override { session_.kill(end, std::move(reason)); }
  bool wait_ended(int timeout_ms) const override { return session_.wait_ended(timeout_ms); }
  void freeze() override { session_.freeze(); }
  uint64_t processes_refused() const override { return session_.processes_refused(); }
  uint64_t processes_max() const override { return session_.spec().limits.processes_max; }
  std::vector<sandbox::OpenFile> files_open_for_writing() const override {
    return session_.files_open_for_writing();
  }
  uint64_t bytes_of_deleted_files(uint64_t device) const override {
    return session_.bytes_of_deleted_files(device);
  }
  std::shared_ptr<const sandbox::Meter> meter() const override { return session_.meter(); }

 private:
  sandbox::Kernel kernel_;
  sandbox::Session& session_ = kernel_.session();
};

}  // namespace

sandbox::SessionSpec sandbox_of(const SessionInfo& info, const InterpreterOptions& options) {
  sandbox::SessionSpec spec;
  spec.id = info.id.hex();
  spec.data_dir = options.directory + "/" + info.id.hex();
  spec.limits.memory_bytes = info.memory_bytes;
  spec.limits.file_bytes_max = kApparentBytesMax;
  spec.limits.disk_bytes_max = options.disk_bytes_max;
  spec.limits.disk_files_max = options.files_max;
  spec.limits.cpu_s_max = static_cast<uint64_t>(options.background_time_max_s);
  spec.limits.io_bytes_per_s = options.io_bytes_per_s;
  spec.tenant = info.owner.hex();
  spec.runtime = info.runtime;
  return spec;
}

std::unique_ptr<KernelProcess> start_in_sandbox(sandbox::SandboxHost& host, const sandbox::SessionSpec& spec,
                                                sandbox::KernelEvents& events) {
  return std::make_unique<SandboxedKernel>(host.start(spec), events);
}

}  // namespace sk::interpreter
