#include "interpreter/run/sandboxed_job.h"

#include <poll.h>
#include <unistd.h>

#include <filesystem>

#include "base/error.h"
#include "interpreter/copy/working_copy.h"
#include "sandbox/kernel.h"

namespace sk::interpreter {

namespace {

// Waits for the end of one cell and ignores its output.
class CellEnd final : public sandbox::KernelEvents {
 public:
  std::optional<sandbox::CellStatus> status;
  bool ended = false;

  void on_output(sandbox::Stream, std::string_view) override {}
  void on_display(sandbox::Display) override {}
  void on_result(sandbox::CellResult) override {}
  void on_error(sandbox::CellError) override {}
  void on_done(sandbox::CellDone done) override { status = done.status; }
  void on_request(sandbox::KernelRequest request) override { requests.push_back(request.id); }
  void on_ended(const sandbox::SessionEnd&) override { ended = true; }

  std::vector<uint64_t> requests;
};

class RemovedFolder {
 public:
  explicit RemovedFolder(std::string path) : path_(std::move(path)) {}
  ~RemovedFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

 private:
  const std::string path_;
};

bool run_cell(sandbox::Kernel& kernel, CellEnd& events, const SandboxedJob& job) {
  auto deadline = std::chrono::steady_clock::now() + job.time_max;
  kernel.execute("job", job.code);
  while (!events.status && !events.ended) {
    auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    if (left.count() <= 0) return false;
    pollfd waiting{kernel.poll_fd(), POLLIN, 0};
    ::poll(&waiting, 1, static_cast<int>(left.count()));
    kernel.on_ready();
    for (auto id : events.requests) kernel.refuse(id, "forbidden", "a job may make no requests");
    events.requests.clear();
  }
  return events.status == sandbox::CellStatus::ok;
}

std::optional<std::string> read_output(const WorkingCopy& copy, size_t bytes_max) {
  auto node = copy.look("out");
  if (!node || node->kind != NodeKind::file || node->size == 0 || node->size > bytes_max) return std::nullopt;
  auto file = copy.open_file("out");
  if (!file) return std::nullopt;
  std::string bytes(bytes_max + 1, '\0');
  size_t size = 0;
  while (size < bytes.size()) {
    auto got = ::read(file->get(), bytes.data() + size, bytes.size() - size);
    if (got <= 0) break;
    size += static_cast<size_t>(got);
  }
  if (size == 0 || size > bytes_max) return std::nullopt;
  bytes.resize(size);
  return bytes;
}

}  // namespace

std::optional<std::string> run_sandboxed_job(sandbox::SandboxHost& host, const std::string& folder,
                                             const SandboxedJob& job) {
  RemovedFolder removed(folder);
  auto owner = host.file_owner();
  WorkingCopy copy(folder, {owner.uid, owner.gid});
  copy.write_file("in", job.write_input, {.mode = 0400});
  sandbox::SessionSpec spec;
  spec.id = "job";
  spec.data_dir = folder;
  spec.limits.memory_bytes = job.memory_bytes;
  spec.limits.processes_max = 32;
  spec.limits.tmp_bytes = 64ull << 20;
  spec.limits.file_bytes_max = job.output_bytes_max + 1;  // shows a truncated output
  CellEnd events;
  std::optional<std::string> output;
  sandbox::Kernel kernel(host.start(spec), events);
  if (run_cell(kernel, events, job)) output = read_output(copy, job.output_bytes_max);
  // No process of it may write into the folder while the folder is removed.
  kernel.session().kill(sandbox::End::killed, "the job is done");
  if (!kernel.session().wait_ended(10'000)) throw Error(Code::internal, "a sandbox did not end");
  return output;
}

}  // namespace sk::interpreter
