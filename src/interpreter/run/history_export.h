// Exports a session's history as a Jupyter notebook with its outputs, or as a Python program.
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "base/fd.h"
#include "interpreter/records.h"

namespace sk::interpreter {

enum class ExportFormat { notebook, script };

struct ExportedHistory {
  std::shared_ptr<Fd> file;
  uint64_t size = 0;
};

// Writes to a nameless file in `directory`. `next` returns the executions, oldest first, and nullopt at the
// end. Any thread.
ExportedHistory export_history(const SessionInfo& session, ExportFormat format, const std::string& directory,
                               const std::function<std::optional<Execution>()>& next);

// The same, page by page. `page_after` returns the executions after a number, at most so many, oldest first.
using PageAfter = std::function<std::vector<Execution>(int64_t after, size_t limit)>;
ExportedHistory export_history(const SessionInfo& session, ExportFormat format, const std::string& directory,
                               const PageAfter& page_after);

// One cell of a notebook (nbformat 4.5), exposed for tests.
Json notebook_cell(const Execution& execution);

}  // namespace sk::interpreter
