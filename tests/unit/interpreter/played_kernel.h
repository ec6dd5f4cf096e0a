// A kernel that a test plays: it records what it is told, and says what the test has it say.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "interpreter/run/kernel_process.h"

namespace sk::interpreter {

// The test's side; outlives the kernel. The thread of the kernel's owner, or the test's while that is idle.
struct Play {
  // Told to the kernel.
  std::vector<std::string> executed;  // code
  std::vector<std::string> killed;    // reasons
  std::vector<std::pair<uint64_t, std::string>> answered;
  int interrupts = 0;
  bool is_frozen = false;
  bool is_gone = false;  // destroyed

  // How it is.
  uint64_t processes_refused = 0;
  std::vector<sandbox::OpenFile> open_files;
  std::shared_ptr<const sandbox::Meter> meter;
  bool dies_of_kill = true;

  // What the test does when something happens; and who is to call on_ready().
  std::function<void(const std::string& code)> on_execute = [](const std::string&) {};
  std::function<void()> on_interrupt = [] {};
  std::function<void()> on_told = [] {};

  // Said by the kernel at the next on_ready().
  std::deque<std::function<void(sandbox::KernelEvents&)>> to_say;
  bool has_ended = false;

  void say(std::function<void(sandbox::KernelEvents&)> what) {
    to_say.push_back(std::move(what));
    on_told();
  }
  void print(std::string text) {
    say([text = std::move(text)](auto& events) { events.on_output(sandbox::Stream::output, text); });
  }
  void done(sandbox::CellStatus status = sandbox::CellStatus::ok, std::optional<int> exit_code = {}) {
    say([=](auto& events) { events.on_done({.id = "", .status = status, .exit_code = exit_code}); });
  }
  void ask(uint64_t id, std::string method, Json params) {
    say([=](auto& events) { events.on_request({id, method, params}); });
  }
  void end(sandbox::SessionEnd outcome) {
    has_ended = true;
    say([=](auto& events) { events.on_ended(outcome); });
  }
};

class PlayedKernel final : public KernelProcess {
 public:
  PlayedKernel(Play& play, sandbox::KernelEvents& events) : play_(play), events_(events) {}
  ~PlayedKernel() override { play_.is_gone = true; }

  int poll_fd() const override { return -1; }
  void on_ready() override {
    for (auto& one : std::exchange(play_.to_say, {})) one(events_);
  }
  bool has_ended() const override { return play_.has_ended; }
  void configure(const std::vector<std::pair<std::string, std::string>>&) override {}
  void execute(const std::string&, std::string_view code, sandbox::Language, std::string_view) override {
    play_.executed.emplace_back(code);
    play_.on_execute(play_.executed.back());
  }
  void interrupt() override {
    ++play_.interrupts;
    play_.on_interrupt();
  }
  void reply(uint64_t request, const Json& value) override {
    play_.answered.emplace_back(request, value.dump());
  }
  void refuse(uint64_t request, std::string_view code, std::string_view) override {
    play_.answered.emplace_back(request, "refused: " + std::string(code));
  }
  void kill(sandbox::End end, std::string reason) override {
    play_.killed.push_back(reason);
    if (play_.dies_of_kill && !play_.has_ended) play_.end({end, reason, {}, {}});
  }
  bool wait_ended(int) const override { return play_.has_ended; }
  void freeze() override { play_.is_frozen = true; }
  uint64_t processes_refused() const override { return play_.processes_refused; }
  uint64_t processes_max() const override { return 256; }
  std::vector<sandbox::OpenFile> files_open_for_writing() const override { return play_.open_files; }
  uint64_t bytes_of_deleted_files(uint64_t) const override { return 0; }
  std::shared_ptr<const sandbox::Meter> meter() const override { return play_.meter; }

 private:
  Play& play_;
  sandbox::KernelEvents& events_;
};

}  // namespace sk::interpreter
