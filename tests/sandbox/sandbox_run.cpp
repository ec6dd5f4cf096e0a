// A small server of sandboxes for tests: commands as JSON lines on standard input, answers as JSON lines on
// standard output. Several sessions run side by side in one loop, as they do in the real server. With a file
// as argument it runs that file and ends.
//
//   {"op":"start","session":"a","limits":{"memory_bytes":…},"binds":[{"host_path":…,"name":…}]}   →
//   {"op":"started",…,"folder":…}
//   {"op":"run","session":"a","code":…,"language":"python","timeout_ms":…}                       →
//   {"op":"done",…} or {"op":"ended",…}
//   {"op":"usage"|"processes"|"open_files"|"interrupt"|"freeze"|"thaw"|"kill"|"stop","session":"a"}
//   {"op":"doctor"}
#include <poll.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <iostream>
#include <map>
#include <memory>
#include <string>

#include "base/error.h"
#include "base/fd.h"
#include "base/json.h"
#include "base/log.h"
#include "base/metrics.h"
#include "sandbox/host.h"
#include "sandbox/kernel.h"
#include "support/temp_folder.h"

namespace sk::sandbox {
namespace {

using Clock = std::chrono::steady_clock;
constexpr auto kGrace = std::chrono::milliseconds(1000);
constexpr size_t kOutputKeptMax = 4 << 20;

void say(const Json& line) { std::cout << to_text(line) << std::endl; }

// One session: collects what a cell shows, and answers when it is done.
class Seat : public KernelEvents {
 public:
  Seat(std::string name, SandboxHost& host, const std::string& folder, const Json& options)
      : name_(std::move(name)) {
    SessionSpec spec;
    spec.id = name_;
    spec.data_dir = folder;
    read_limits(options.value("limits", Json::object()), spec.limits);
    for (const auto& bind : options.value("binds", Json::array()))
      spec.binds.push_back({bind["host_path"], bind["name"]});
    kernel = std::make_unique<Kernel>(host.start(spec), *this);
    if (options.contains("environment")) {
      std::vector<std::pair<std::string, std::string>> variables;
      for (const auto& [key, value] : options["environment"].items()) variables.emplace_back(key, value);
      kernel->configure(variables);
    }
  }

  void run(const Json& command) {
    cell_ = Json::object();
    output_.clear();
    errors_.clear();
    output_bytes_ = 0;
    began_ = Clock::now();
    deadline_ = began_ + std::chrono::milliseconds(command.value("timeout_ms", 60'000));
    interrupted_ = false;
    kernel->execute("cell-" + std::to_string(++count_), command["code"].get<std::string>(),
                    command.value("language", "python") == "bash" ? Language::bash : Language::python);
    running_ = true;
  }

  // Interrupts a cell that takes too long, then ends its session.
  void look_at_clock() {
    if (!running_ || Clock::now() < deadline_) return;
    if (interrupted_) {
      kernel->session().kill(End::killed, "timeout");
    } else {
      interrupted_ = true;
      kernel->interrupt();
      deadline_ = Clock::now() + kGrace;
    }
  }

  void on_output(Stream stream, std::string_view bytes) override {
    output_bytes_ += bytes.size();
    auto& text = stream == Stream::output ? output_ : errors_;
    if (text.size() < kOutputKeptMax) text += bytes.substr(0, kOutputKeptMax - text.size());
  }
  void on_display(Display display) override { cell_["displays"].push_back(describe(display.bundle)); }
  void on_result(CellResult result) override { cell_["results"].push_back(describe(result.bundle)); }
  void on_error(CellError error) override {
    cell_["errors_raised"].push_back(
        {{"name", error.name}, {"value", error.value}, {"traceback", error.traceback}});
  }
  void on_request(KernelRequest request) override {
    cell_["requests"].push_back({{"method", request.method}, {"params", request.params}});
    kernel->refuse(request.id, "not_implemented", "this is a test");
  }
  void on_done(CellDone done) override {
    const char* names[] = {"ok", "error", "interrupted"};
    cell_["status"] = names[static_cast<int>(done.status)];
    if (done.exit_code) cell_["exit_code"] = *done.exit_code;
    cell_["cpu_us"] = done.cpu_us;
    answer("done");
  }
  void on_ended(const SessionEnd& outcome) override {
    cell_["end"] = name_of(outcome.end);
    cell_["reason"] = outcome.reason;
    if (outcome.exit_code) cell_["exit_code"] = *outcome.exit_code;
    if (outcome.signal) cell_["signal"] = *outcome.signal;
    answer("ended");
  }

  std::unique_ptr<Kernel> kernel;

 private:
  static void read_limits(const Json& from, SessionLimits& limits) {
    limits.memory_bytes = from.value("memory_bytes", limits.memory_bytes);
    limits.cpu_percent = from.value("cpu_percent", limits.cpu_percent);
    limits.processes_max = from.value("processes_max", limits.processes_max);
    limits.tmp_bytes = from.value("tmp_bytes", limits.tmp_bytes);
    limits.file_bytes_max = from.value("file_bytes_max", limits.file_bytes_max);
    limits.open_files_max = from.value("open_files_max", limits.open_files_max);
  }
  static Json describe(const MimeBundle& bundle) {
    Json out = Json::object();
    for (const auto& part : bundle.parts)
      out[part.mime] =
          part.is_binary ? Json(std::to_string(part.content.size()) + " bytes") : Json(part.content);
    return out;
  }
  void answer(const char* op) {
    running_ = false;
    cell_["op"] = op;
    cell_["session"] = name_;
    cell_["output"] = output_;
    cell_["errors"] = errors_;
    cell_["output_bytes"] = output_bytes_;
    cell_["elapsed_ms"] = std::chrono::duration<double, std::milli>(Clock::now() - began_).count();
    say(cell_);
  }

  const std::string name_;
  Json cell_ = Json::object();
  std::string output_, errors_;
  size_t output_bytes_ = 0;
  int count_ = 0;
  bool running_ = false, interrupted_ = false;
  Clock::time_point began_ = Clock::now(), deadline_;
};

class Program {
 public:
  explicit Program(SandboxHost::Options options) : host_(std::move(options), metrics_) {}

  int serve() {
    say({{"op", "ready"}, {"ok", host_.wait_ready(60'000)}});
    for (;;) {
      std::vector<pollfd> waits{{0, POLLIN, 0}};
      for (auto& [name, seat] : seats_)
        if (!seat->kernel->has_ended()) waits.push_back({seat->kernel->poll_fd(), POLLIN, 0});
      ::poll(waits.data(), waits.size(), 50);
      if (waits[0].revents && !read_commands()) return 0;
      for (auto& [name, seat] : seats_) {
        seat->look_at_clock();
        seat->kernel->on_ready();
      }
    }
  }

  int run_file(const std::string& path) {
    Json command = {{"session", "file"}};
    start(command);
    command["code"] = read_file(path);
    command["timeout_ms"] = 600'000;
    auto& seat = *seats_.at("file");
    seat.run(command);
    while (!seat.kernel->has_ended() && seat.kernel->is_running()) {
      pollfd wait{seat.kernel->poll_fd(), POLLIN, 0};
      ::poll(&wait, 1, 100);
      seat.kernel->on_ready();
    }
    return 0;
  }

 private:
  bool read_commands() {
    char buffer[65536];
    auto count = ::read(0, buffer, sizeof buffer);
    if (count <= 0) return false;
    input_.append(buffer, static_cast<size_t>(count));
    for (size_t end; (end = input_.find('\n')) != std::string::npos; input_.erase(0, end + 1)) {
      Json command = Json::parse(input_.substr(0, end));
      try {
        obey(command);
      } catch (const Error& error) {
        say({{"op", "failed"},
             {"session", command.value("session", "")},
             {"code", info(error.code()).name},
             {"message", error.message()}});
      }
    }
    return true;
  }

  void start(const Json& command) {
    std::string name = command["session"];
    std::string folder = folders_ / name;
    auto owner = host_.file_owner();
    std::filesystem::create_directory(folder);
    if (::chown(folder.c_str(), owner.uid, owner.gid) != 0) throw system_error("chown", errno);
    auto began = Clock::now();
    seats_[name] = std::make_unique<Seat>(name, host_, folder, command);
    say({{"op", "started"},
         {"session", name},
         {"folder", folder},
         {"elapsed_ms", std::chrono::duration<double, std::milli>(Clock::now() - began).count()}});
  }

  void obey(const Json& command) {
    std::string op = command["op"];
    if (op == "doctor") return say_doctor();
    if (op == "start") return start(command);
    std::string name = command["session"];
    auto found = seats_.find(name);
    if (found == seats_.end()) throw Error(Code::not_found, "no session " + name);
    Session& session = found->second->kernel->session();
    Json reply = {{"op", op}, {"session", name}};
    if (op == "run") return found->second->run(command);
    if (op == "stop")
      seats_.erase(found);
    else if (op == "interrupt")
      found->second->kernel->interrupt();
    else if (op == "kill")
      session.kill(End::killed, command.value("reason", "asked"));
    else if (op == "freeze")
      session.freeze();
    else if (op == "thaw")
      session.thaw();
    else if (op == "processes")
      reply["processes"] = session.processes();
    else if (op == "usage")
      reply["usage"] = describe(session.usage());
    else if (op == "open_files") {
      for (const auto& file : session.files_open_for_writing()) reply["inodes"].push_back(file.inode);
    } else
      throw Error(Code::bad_request, "no such op");
    say(reply);
  }

  static Json describe(const Usage& usage) {
    return {{"memory_bytes", usage.memory_bytes},
            {"memory_peak_bytes", usage.memory_peak_bytes},
            {"cpu_us", usage.cpu_us},
            {"processes", usage.processes},
            {"oom_kills", usage.oom_kills},
            {"processes_refused", usage.processes_refused}};
  }

  void say_doctor() {
    Json layers = Json::array();
    for (const auto& layer : host_.report().layers)
      layers.push_back({{"name", layer.name},
                        {"present", layer.present},
                        {"detail", layer.detail},
                        {"advice", layer.advice}});
    say({{"op", "doctor"},
         {"layers", layers},
         {"is_root", host_.report().is_root},
         {"exact", host_.report().limits_are_exact}});
  }

  test::TempFolder folders_;
  Metrics metrics_;
  SandboxHost host_;
  std::map<std::string, std::unique_ptr<Seat>> seats_;
  std::string input_;
};

int run(int argc, char** argv) {
  SandboxHost::Options options;
  options.data_root = std::filesystem::temp_directory_path();
  options.pool_size = 2;
  options.preallocation_bytes_max = 1ull << 30;
  options.approximate = ApproximateLimitsAllowed::by_operator();
  std::string file;
  for (int i = 1; i < argc; ++i) {
    std::string argument = argv[i];
    if (argument.starts_with("--pool="))
      options.pool_size = std::stoul(argument.substr(7));
    else if (argument.starts_with("--runtime="))
      options.runtimes[0].root = argument.substr(10);
    else if (argument.starts_with("--dir="))
      options.extra_dirs.push_back(argument.substr(6));
    else
      file = argument;
  }
  Program program(std::move(options));
  return file.empty() ? program.serve() : program.run_file(file);
}

}  // namespace
}  // namespace sk::sandbox

int main(int argc, char** argv) {
  try {
    return sk::sandbox::run(argc, argv);
  } catch (const sk::Error& error) {
    std::cerr << error.message() << "\n" << error.hint() << "\n";
    return 1;
  }
}
