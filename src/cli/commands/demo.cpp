// demo: shows in twenty seconds that links stay valid. Draws a chart, lets its session expire, overwrites its
// file and kills its server; the link still returns the same bytes.
#include <pthread.h>
#include <stdlib.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <thread>

#include "base/hash.h"
#include "base/text.h"
#include "cli/client/execution.h"
#include "cli/client/fields.h"
#include "cli/commands/child_server.h"
#include "cli/commands/commands.h"
#include "cli/frame/interrupt.h"

namespace sk::cli {

namespace {

constexpr auto kAsleepTimeout = std::chrono::seconds(30);
constexpr int kIdleS = 2;
constexpr int kRemovalsMax = 100;
constexpr auto kRemovalPause = std::chrono::milliseconds(20);

const std::string kChart =
    "import numpy as np, matplotlib.pyplot as plt\n"
    "x = np.linspace(0, 6, 200)\n"
    "plt.plot(x, np.exp(-x / 3) * np.cos(4 * x))\n"
    "plt.savefig('chart.png')\n";
const std::string kOverwrite = "open('chart.png', 'w').write('not a chart any more')\n";

// A temporary folder that is deleted with this object.
class Folder {
 public:
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "sandkeep-demo-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) throw system_error("cannot create a folder for the demo", errno);
    path = name;
  }
  ~Folder() { remove(); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  // Tries again when it fails: code of a killed server may still create files until its sandbox is gone.
  void remove() const {
    std::error_code failed;
    for (int tries = 0; tries < kRemovalsMax; ++tries) {
      std::filesystem::remove_all(path, failed);
      if (!failed) return;
      std::this_thread::sleep_for(kRemovalPause);
    }
  }
  std::string path;
};

// Signals wait while the demo's folder exists without an InterruptGuard: during its creation and removal.
class SignalsHeld {
 public:
  SignalsHeld() {
    sigset_t set;
    sigemptyset(&set);
    for (int number : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&set, number);
    pthread_sigmask(SIG_BLOCK, &set, &earlier_);
  }
  ~SignalsHeld() { pthread_sigmask(SIG_SETMASK, &earlier_, nullptr); }
  SignalsHeld(const SignalsHeld&) = delete;
  SignalsHeld& operator=(const SignalsHeld&) = delete;

 private:
  sigset_t earlier_{};
};

std::string grouped(uint64_t number) {
  std::string digits = std::to_string(number), out;
  for (size_t i = 0; i < digits.size(); ++i) {
    if (i > 0 && (digits.size() - i) % 3 == 0) out += ',';
    out += digits[i];
  }
  return out;
}

class Demo {
 public:
  explicit Demo(Invocation& call)
      : call_(call),
        server_({.folder = folder_.path,
                 .root_key = key_,
                 // Its own code needs no exact limits.
                 .flags = {"--session-idle-s", std::to_string(kIdleS), "--log-level", "warn",
                           "--limits=approximate"}}),
        interrupt_(call.terminal, "interrupted; everything is removed", [this] {
          server_.end();
          folder_.remove();
        }) {}

  ExitCode run() {
    server_.start();
    say("A server starts", server_.url() + ", its data in " + folder_.path);
    Json chart = draw();
    std::string link = text_field(chart, "link"), before = fetch(link);
    expire();
    overwrite();
    auto pid = server_.pid();
    server_.kill_at_once();
    say("kill -9", "the server, process " + std::to_string(pid) + ", is gone");
    server_.start();
    say("It starts again", server_.url());
    return compare(link, before);
  }

 private:
  // Prints "  3.1 s  Heading               details".
  void say(std::string_view what, const std::string& more, bool timed = true) {
    using Seconds = std::chrono::duration<double>;
    char time[32] = "        ";
    if (timed)
      std::snprintf(time, sizeof time, "%5.1f s ",
                    Seconds(std::chrono::steady_clock::now() - began_).count());
    std::string head(what);
    head.append(head.size() < 20 ? 20 - head.size() : 0, ' ');
    auto& terminal = call_.terminal;
    terminal.line(terminal.paint_out(Style::dim, time) + " " + terminal.paint_out(Style::bold, head) + " " +
                  more);
    terminal.flush();
  }

  Remote remote() const {
    return Remote({.server = server_.url(), .key = key_, .workspace = "", .ca_file = ""});
  }

  Json execute(const std::string& code) {
    auto connection = remote();
    Json done = run_code(connection, session_, {{"code", code}}, {});
    if (!ended_well(done))
      throw Error(Code::internal, "the demo's code ended with " + text_field(done, "end") + ": " +
                                      text_field(done, "message"))
          .hint("Run 'sandkeep doctor' to see whether code can run here.");
    return done;
  }

  Json draw() {
    Json session = remote().call("POST", "/api/v1/sessions", {}, Json{{"name", "demo"}});
    session_ = text_field(session, "id");
    Json done = execute(kChart);
    for (const auto& file : list_field(done, "kept")) {
      if (!text_field(file, "path").ends_with("chart.png")) continue;
      say("A chart is drawn", "plt.savefig('chart.png') in a new session");
      say("", "kept as " + text_field(file, "path") + ", " + grouped(number_field(file, "size")) + " bytes",
          false);
      say("", call_.terminal.paint_out(Style::blue, text_field(file, "link")), false);
      return file;
    }
    throw Error(Code::internal, "the chart was not kept");
  }

  void expire() {
    auto deadline = std::chrono::steady_clock::now() + kAsleepTimeout;
    while (!is_asleep(remote().call("GET", "/api/v1/sessions/" + session_))) {
      if (std::chrono::steady_clock::now() > deadline)
        throw Error(Code::internal, "the session did not expire");
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    say("The session expires", "after " + std::to_string(kIdleS) + " s without use; its process is gone");
  }

  void overwrite() {
    Json done = execute(kOverwrite);
    say("It is overwritten", std::string("by the next cell, which wakes the session (woke: ") +
                                 (flag_field(done, "woke") ? "true" : "false") + ")");
  }

  std::string fetch(const std::string& link) {
    http::ClientRequest request;
    request.url = link;
    request.headers.set("Authorization", "Bearer " + key_);
    auto response = http::Client().send(request);
    if (response.status != 200)
      throw Error(Code::internal, "the link answered " + std::to_string(response.status));
    return response.body;
  }

  ExitCode compare(const std::string& link, const std::string& before) {
    std::string after = fetch(link);
    std::string hash = sha256(after).hex().substr(0, 16);
    bool same = after == before;
    say("The chart's link", same ? "gives the same " + grouped(after.size()) + " bytes, SHA-256 " + hash + "…"
                                 : call_.terminal.paint_out(Style::red, "gives other bytes"));
    return same ? ExitCode::ok : ExitCode::failed;
  }

  Invocation& call_;
  const std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
  SignalsHeld held_;
  Folder folder_;
  const std::string key_ = "demo-" + random_base64url(24);
  ChildServer server_;
  std::string session_;
  InterruptGuard interrupt_;  // the last member: destroyed before what it cleans up
};

ExitCode run_demo(Invocation& call) { return Demo(call).run(); }

}  // namespace

Command demo_command() {
  return {
      .name = "demo",
      .arguments = "",
      .summary = "shows within seconds what survives, with a temporary server",
      .about =
          "Starts a server in a new folder, draws a chart in a session and prints its link; lets the session "
          "expire, overwrites the file, kills the server with -9, starts it again and fetches the link: "
          "the same bytes. Then everything is removed.",
      .options = {},
      .positional_max = 0,
      .examples = {"sandkeep demo"},
      .run = run_demo,
      .reads = Reads::local,
  };
}

}  // namespace sk::cli
