#include "interpreter/run/event.h"

namespace sk::interpreter {

void fold(Execution& execution, const Event& event) {
  std::visit(Visit{[&](const Started& started) {
                     execution.status = ExecutionStatus::running;
                     execution.woke = started.woke;
                     execution.started_us = started.started_us;
                   },
                   [&](const OutputAdded& added) { append(execution.outputs, added.output); },
                   [&](const OutputsCleared&) { execution.outputs.clear(); },
                   [&](const FileKept& kept) {
                     auto& files = execution.files.kept;
                     std::erase_if(files,
                                   [&](const auto& earlier) { return earlier.path == kept.file.path; });
                     files.push_back(kept.file);
                   },
                   [](const ToolsAsked&) {}, [](const Ended&) {}},
             event);
}

}  // namespace sk::interpreter
