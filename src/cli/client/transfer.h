// Many files at once: a few workers, each with its own connection, take jobs in order.
#pragma once

#include <functional>
#include <optional>

#include "base/error.h"
#include "cli/client/remote.h"
#include "cli/frame/exit_code.h"

namespace sk::cli {

constexpr size_t kWorkersDefault = 4;
constexpr size_t kWorkersMax = 64;
extern const Option kJobsOption;
size_t workers_of(const Arguments& arguments);

struct JobsOutcome {
  size_t done = 0;
  size_t failed = 0;
  size_t not_started = 0;
  std::optional<Code> first_failure;

  ExitCode exit_code() const { return first_failure ? exit_code_of(*first_failure) : ExitCode::ok; }
};

// Runs jobs 0 … count-1. A job that throws Error is handed to `on_failure` (from its worker), and the others
// go on, unless the error would meet them all: a wrong key, no server, no room. Returns when all workers are
// done.
JobsOutcome run_jobs(size_t count, size_t workers, const Target& target,
                     const std::function<void(Remote&, size_t job)>& work,
                     const std::function<void(size_t job, const Error&)>& on_failure);

}  // namespace sk::cli
