// top: shows what a server does, as it changes.
#include <array>
#include <chrono>
#include <thread>

#include "cli/client/fields.h"
#include "cli/commands/commands.h"
#include "cli/commands/top_view.h"
#include "cli/frame/columns.h"
#include "cli/frame/full_screen.h"

namespace sk::cli {

namespace {

using std::chrono::milliseconds;

constexpr uint64_t kIntervalUsualS = 2, kIntervalMostS = 3600;
constexpr size_t kRowsUsual = 50, kRowsMost = 200;
// The server gathers its figures at most once a second.
constexpr milliseconds kNextSnapshot{1100};
// The orders, as the server names them; each letter chooses one.
constexpr std::array<std::string_view, 3> kSorts = {"cpu", "memory", "requests"};

Json look_at(Remote& remote, size_t sort, size_t rows) {
  return remote.call("GET", "/api/v1/top",
                     {{"sort", std::string(kSorts[sort])}, {"limit", std::to_string(rows)}});
}

// Asks twice when the first answer has no rates.
Json ask_with_rates(Remote& remote, size_t sort) {
  auto top = look_at(remote, sort, kRowsUsual);
  if (has_rates(top)) return top;
  std::this_thread::sleep_for(kNextSnapshot);
  return look_at(remote, sort, kRowsUsual);
}

void print_once(const Invocation& call, const Json& top) {
  if (call.json()) return call.terminal.line(to_text(top));
  for (const auto& line : describe_top(top, {.utf8 = call.terminal.utf8()}))
    call.terminal.line(call.terminal.paint_out(line.style, line.text));
}

size_t sort_of(const Invocation& call) {
  auto wanted = call.arguments.value_or("sort", kSorts[0]);
  for (size_t i = 0; i < kSorts.size(); ++i)
    if (wanted == kSorts[i]) return i;
  throw Error(Code::bad_request, "'" + wanted + "' is not an order")
      .hint("Choose --sort cpu, --sort memory or --sort requests.");
}

// The view of one terminal. One thread.
class TopScreen {
 public:
  TopScreen(Invocation& call, Remote& remote, size_t sort, milliseconds interval)
      : call_(call), remote_(remote), screen_(call.terminal), sort_(sort), interval_(interval) {}

  // Returns when the user quits. Waits for a server that restarts.
  void run() {
    do {
      load();
      draw();
    } while (handle_keys());
  }

 private:
  void load() {
    auto size = screen_.size();
    size_t rows = size.rows > kTopLinesAround ? (size.rows - kTopLinesAround) / 2 : 1;
    try {
      top_ = look_at(remote_, sort_, std::clamp<size_t>(rows, 1, kRowsMost));
      trouble_.clear();
    } catch (const Error& error) {
      if (exit_code_of(error.code()) != ExitCode::unreachable) throw;
      trouble_ = printable(error.message()) + "; waiting for it";
    }
  }

  void draw() {
    auto size = screen_.size();
    std::vector<std::string> lines;
    if (!top_.is_null())
      for (const auto& line : describe_top(top_, {.width = size.columns, .utf8 = call_.terminal.utf8()}))
        lines.push_back(call_.terminal.paint_out(line.style, line.text));
    lines.resize(size.rows - 1);  // the status line is the last one of the screen
    bool is_well = trouble_.empty();
    auto status =
        is_well ? "sorted by " + std::string(kSorts[sort_]) + "   c cpu   m memory   r requests   q quit"
                : trouble_;
    lines.push_back(
        call_.terminal.paint_out(is_well ? Style::dim : Style::red, cut_to_width(status, size.columns)));
    screen_.draw(lines, size);
  }

  // Waits until the next snapshot is due. False when the user quits.
  bool handle_keys() {
    auto due = std::chrono::steady_clock::now() + interval_;
    for (;;) {
      auto left = std::chrono::duration_cast<milliseconds>(due - std::chrono::steady_clock::now());
      if (left.count() <= 0) return true;
      auto key = screen_.wait_for_key(left);
      if (!key) {
        if (screen_.is_resized()) draw();
        continue;
      }
      auto next = sort_after(*key);
      if (!next) return false;
      if (*next == sort_) continue;
      sort_ = *next;
      return true;
    }
  }

  // The order that a key chooses; the present one for other keys. nullopt for keys that quit.
  std::optional<size_t> sort_after(const KeyPress& key) const {
    switch (key.kind) {
      case KeyPress::Kind::end_of_input:
        return std::nullopt;
      case KeyPress::Kind::right:
      case KeyPress::Kind::down:
        return (sort_ + 1) % kSorts.size();
      case KeyPress::Kind::left:
      case KeyPress::Kind::up:
        return (sort_ + kSorts.size() - 1) % kSorts.size();
      case KeyPress::Kind::character:
        break;
    }
    if (key.character == 'q' || key.character == 'Q') return std::nullopt;
    for (size_t i = 0; i < kSorts.size(); ++i)
      if (key.character == kSorts[i][0]) return i;
    return sort_;
  }

  Invocation& call_;
  Remote& remote_;
  FullScreen screen_;
  size_t sort_;
  const milliseconds interval_;
  Json top_;             // the last answer; null before the first
  std::string trouble_;  // why there is no newer one; empty: there is
};

ExitCode run_top(Invocation& call) {
  auto sort = sort_of(call);
  auto given = call.arguments.number("interval", 1, kIntervalMostS);
  auto remote = connect(call);
  bool is_once = call.arguments.has("once");
  if (call.json()) {
    // With an interval, one line for each snapshot until Ctrl-C.
    print_once(call, ask_with_rates(remote, sort));
    while (given && !is_once) {
      call.terminal.flush();
      std::this_thread::sleep_for(std::chrono::seconds(*given));
      print_once(call, look_at(remote, sort, kRowsUsual));
    }
    return ExitCode::ok;
  }
  bool is_screen = call.terminal.in_is_tty() && call.terminal.out_is_tty() && call.variable("TERM") != "dumb";
  if (is_once || !is_screen) {
    print_once(call, ask_with_rates(remote, sort));
    return ExitCode::ok;
  }
  // A wrong key is reported before the view begins.
  look_at(remote, sort, 1);
  TopScreen(call, remote, sort, std::chrono::seconds(given.value_or(kIntervalUsualS))).run();
  return ExitCode::ok;
}

}  // namespace

Command top_command() {
  return {
      .name = "top",
      .arguments = "",
      .summary = "shows what a server does, as it changes; for administrators",
      .about =
          "Figures of the server and its disk, then the tenants and the awake sessions that use the "
          "most. CPU is in percent of one core. In a terminal, the view is redrawn until 'q' or Ctrl-C; "
          "c, m, r or the arrow keys change the order. Elsewhere, and with --once, it is printed once.",
      .options = {{"once", 0, "", "print the figures once and exit"},
                  {"interval", 0, "SECONDS", "time between two looks (default 2)"},
                  {"sort", 0, "cpu|memory|requests", "the order of the rows, largest first (default cpu)"}},
      .positional_max = 0,
      .examples = {"sandkeep top", "sandkeep top --once --sort memory", "sandkeep top --json --interval 10"},
      .run = run_top,
  };
}

}  // namespace sk::cli
