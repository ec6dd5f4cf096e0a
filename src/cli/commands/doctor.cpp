// doctor: checks whether this machine can run code safely, and shows how to fix problems.
#include <filesystem>

#include "base/text.h"
#include "cli/commands/commands.h"
#include "cli/commands/doctor_packages.h"
#include "server/server.h"

namespace sk::cli {

namespace {

using sandbox::Layer;
using sandbox::Need;

std::string_view name_of(Need need) {
  switch (need) {
    case Need::always:
      return "always";
    case Need::required:
      return "required";
    case Need::exact:
      return "exact";
    case Need::useful:
      break;
  }
  return "useful";
}

Json to_json(const sandbox::Report& report, const std::vector<std::string>& missing) {
  Json layers = Json::array();
  for (const auto& layer : report.layers)
    layers.push_back({{"name", layer.name},
                      {"present", layer.present},
                      {"need", name_of(layer.need)},
                      {"detail", layer.detail},
                      {"advice", layer.advice}});
  return {{"complete", report.complete()},
          {"root", report.is_root},
          {"limits", report.limits_are_exact ? "exact" : "approximate"},
          {"layers", layers},
          {"missing_packages", missing}};
}

void show_layer(Invocation& call, const Layer& layer, size_t width) {
  auto& terminal = call.terminal;
  bool bad = !layer.present && layer.need != Need::useful;
  std::string mark = layer.present ? terminal.paint_out(Style::green, "ok     ")
                     : bad         ? terminal.paint_out(Style::red, "MISSING")
                                   : terminal.paint_out(Style::yellow, "absent ");
  std::string name = layer.name;
  name.append(width - std::min(width, name.size()), ' ');
  terminal.line("  " + mark + "  " + name + "  " + layer.detail);
  if (!layer.present && !layer.advice.empty()) terminal.line("           " + layer.advice);
}

void show(Invocation& call, const sandbox::Report& report, const std::vector<std::string>& missing) {
  auto& terminal = call.terminal;
  size_t width = 0;
  for (const auto& layer : report.layers) width = std::max(width, layer.name.size());
  terminal.line(std::string("The sandbox, as ") + (report.is_root ? "root" : "an ordinary user") + ":");
  for (const auto& layer : report.layers) show_layer(call, layer, width);
  terminal.line(report.limits_are_exact
                    ? "Limits on memory and processes are exact: control groups enforce them."
                    : "Approximate limits: a watcher and resource limits bound memory and processes. Code "
                      "runs only with "
                      "--limits=approximate.");
  if (missing.empty()) {
    terminal.line("All usual Python packages are installed.");
  } else {
    std::string names;
    for (const auto& name : missing) names.append(" python3-").append(name);
    terminal.line("Python packages are missing; install them with:");
    terminal.line("  sudo apt-get install" + names);
  }
  if (report.complete())
    terminal.line(terminal.paint_out(Style::green, report.limits_are_exact
                                                       ? "Code can run here."
                                                       : "Code can run here with --limits=approximate."));
  else
    terminal.line(terminal.paint_out(Style::red, "Code cannot run here: ") + "missing " + report.missing() +
                  (report.possible()
                       ? ". '--sandbox weak' runs code without these layers; use it only for development."
                       : "."));
}

ExitCode run_doctor(Invocation& call) {
  std::string folder = call.arguments.value_or("data", std::filesystem::temp_directory_path().string());
  auto report = server::examine_sandbox(folder);
  auto missing = missing_python_packages("/usr");
  if (call.json())
    call.terminal.line(to_text(to_json(report, missing)));
  else
    show(call, report, missing);
  return report.complete() && report.limits_are_exact ? ExitCode::ok : ExitCode::failed;
}

}  // namespace

Command doctor_command() {
  return {
      .name = "doctor",
      .arguments = "",
      .summary = "checks whether this machine can run code safely",
      .about =
          "Tests each layer of the sandbox as the current user, and shows how to add missing ones. Exits "
          "with 0 if code can run with exact limits.",
      .options = {{"data", 0, "DIR", "the server's data folder, whose filesystem is tested"}},
      .positional_max = 0,
      .examples = {"sandkeep doctor", "sandkeep doctor --data /srv/sandkeep"},
      .run = run_doctor,
      .reads = Reads::local,
  };
}

}  // namespace sk::cli
