// Sessions for tests: one host per test program, a folder and a kernel per session, and cells that run to
// their end.
#pragma once

#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/error.h"
#include "base/fd.h"
#include "base/metrics.h"
#include "sandbox/host.h"
#include "sandbox/kernel.h"
#include "support/temp_folder.h"

namespace sk::sandbox::testing {

using test::TempFolder;

constexpr int kPatienceMs = 60'000;

// Everything that one cell showed.
struct Cell {
  std::string output, errors;
  std::vector<Display> displays;
  std::vector<CellResult> results;
  std::vector<CellError> raised;
  std::vector<KernelRequest> requests;
  std::vector<std::string> order;  // "output:text", "display", "result", "error", … as they came
  std::optional<CellDone> done;
  std::optional<SessionEnd> ended;

  bool ok() const { return done && done->status == CellStatus::ok; }
  // The text of its last expression.
  std::string result() const {
    if (results.empty()) return "";
    auto* part = results.back().bundle.find("text/plain");
    return part ? part->content : "";
  }
};

class Recorder : public KernelEvents {
 public:
  Cell cell;
  std::function<void(const KernelRequest&)> answer;

  void on_output(Stream stream, std::string_view bytes) override {
    (stream == Stream::output ? cell.output : cell.errors) += bytes;
    cell.order.push_back((stream == Stream::output ? "output:" : "errors:") + std::string(bytes));
  }
  void on_display(Display display) override {
    cell.order.push_back("display");
    cell.displays.push_back(std::move(display));
  }
  void on_clear_output() override { cell.order.push_back("clear"); }
  void on_result(CellResult result) override {
    cell.order.push_back("result");
    cell.results.push_back(std::move(result));
  }
  void on_error(CellError error) override {
    cell.order.push_back("error");
    cell.raised.push_back(std::move(error));
  }
  void on_done(CellDone done) override { cell.done = std::move(done); }
  void on_request(KernelRequest request) override {
    if (answer) answer(request);
    cell.requests.push_back(std::move(request));
  }
  void on_ended(const SessionEnd& outcome) override { cell.ended = outcome; }
};

// The host that all tests share: its zygote takes seconds to start. Destroyed at the end of the program.
inline Metrics& metrics() {
  static Metrics instance;
  return instance;
}

// The parent of all folders that tests give to sessions.
inline std::string parent_of_folders() { return std::filesystem::temp_directory_path().string(); }

inline SandboxHost& host() {
  static SandboxHost instance({.data_root = parent_of_folders(),
                               .pool_size = 2,
                               .preallocation_bytes_max = 1ull << 30,
                               .approximate = ApproximateLimitsAllowed::by_operator()},
                              metrics());
  return instance;
}

// One session with its folder.
class TestSession {
 public:
  explicit TestSession(SessionLimits limits = {}, SandboxHost& on = host())
      : TestSession(spec_with(limits), on) {}
  TestSession(SessionSpec spec, SandboxHost& on) {
    auto owner = on.file_owner();
    if (::chown(folder_.path().c_str(), owner.uid, owner.gid) != 0) throw system_error("chown", errno);
    spec.id = "test";
    spec.data_dir = folder_.path();
    kernel_ = std::make_unique<Kernel>(on.start(spec), events_);
  }

  Cell run(std::string_view code, Language language = Language::python, int timeout_ms = kPatienceMs) {
    start(code, language);
    return finish(timeout_ms);
  }
  void start(std::string_view code, Language language = Language::python) {
    events_.cell = {};
    kernel_->execute("cell-" + std::to_string(++count_), code, language);
  }
  // Until the cell is done or the session has ended.
  Cell finish(int timeout_ms = kPatienceMs) {
    wait([this] { return events_.cell.done || events_.cell.ended; }, timeout_ms);
    return events_.cell;
  }
  Cell wait_ended(int timeout_ms = kPatienceMs) {
    wait([this] { return events_.cell.ended.has_value(); }, timeout_ms);
    return events_.cell;
  }
  template <class Until>
  bool wait(Until until, int timeout_ms = kPatienceMs) {
    auto deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(timeout_ms);
    while (!until()) {
      auto left =
          std::chrono::duration_cast<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now())
              .count();
      if (left <= 0) return false;
      pollfd wait{kernel_->poll_fd(), POLLIN, 0};
      ::poll(&wait, 1, static_cast<int>(left));
      kernel_->on_ready();
    }
    return true;
  }

  Kernel& kernel() { return *kernel_; }
  Session& session() { return kernel_->session(); }
  Recorder& events() { return events_; }
  std::string folder() const { return folder_.path(); }

 private:
  static SessionSpec spec_with(const SessionLimits& limits) {
    SessionSpec spec;
    spec.limits = limits;
    return spec;
  }

  TempFolder folder_;
  Recorder events_;
  std::unique_ptr<Kernel> kernel_;
  int count_ = 0;
};

inline bool is_root() { return ::geteuid() == 0; }

}  // namespace sk::sandbox::testing
