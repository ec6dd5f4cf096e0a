// Transfers many files concurrently: each worker has its own connection and takes jobs in order.
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

// Runs jobs 0 … count-1. A job's Error is passed to `on_failure` on its worker, and the other jobs continue.
// Errors that affect all jobs stop them: a wrong key, no server, no space. Returns when all workers are done.
JobsOutcome run_jobs(size_t count, size_t workers, const Target& target,
                     const std::function<void(Remote&, size_t job)>& work,
                     const std::function<void(size_t job, const Error&)>& on_failure);

}  // namespace sk::cli
