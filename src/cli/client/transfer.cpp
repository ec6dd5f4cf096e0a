#include "cli/client/transfer.h"

#include <thread>

#include "base/mutex.h"

namespace sk::cli {

const Option kJobsOption = {"jobs", 'j', "N", "files under way at once (4)"};

size_t workers_of(const Arguments& arguments) {
  return arguments.number("jobs", 1, kWorkersMax).value_or(kWorkersDefault);
}

namespace {

bool meets_all(Code code) {
  switch (exit_code_of(code)) {
    case ExitCode::denied:
    case ExitCode::unreachable:
      return true;
    case ExitCode::no_room:
      return code != Code::too_large;
    default:
      return false;
  }
}

// State shared by the workers.
struct Queue {
  Mutex mutex;
  size_t next SK_GUARDED_BY(mutex) = 0;
  bool stopped SK_GUARDED_BY(mutex) = false;
  JobsOutcome outcome SK_GUARDED_BY(mutex);
};

std::optional<size_t> take(Queue& queue, size_t count) {
  MutexLock guard(queue.mutex);
  if (queue.stopped || queue.next >= count) return std::nullopt;
  return queue.next++;
}

void record(Queue& queue, const std::optional<Code>& failure) {
  MutexLock guard(queue.mutex);
  if (!failure) {
    ++queue.outcome.done;
    return;
  }
  ++queue.outcome.failed;
  if (!queue.outcome.first_failure) queue.outcome.first_failure = failure;
  if (meets_all(*failure)) queue.stopped = true;
}

}  // namespace

JobsOutcome run_jobs(size_t count, size_t workers, const Target& target,
                     const std::function<void(Remote&, size_t job)>& work,
                     const std::function<void(size_t job, const Error&)>& on_failure) {
  Queue queue;
  auto serve_queue = [&] {
    Remote remote(target);
    while (auto job = take(queue, count)) {
      std::optional<Code> failure;
      try {
        work(remote, *job);
      } catch (const Error& error) {
        failure = error.code();
        on_failure(*job, error);
      } catch (const std::exception& error) {
        failure = Code::internal;
        on_failure(*job, Error(Code::internal, error.what()));
      }
      record(queue, failure);
    }
  };
  std::vector<std::thread> threads;
  for (size_t i = 0; i < std::min(workers, count); ++i) threads.emplace_back(serve_queue);
  for (auto& thread : threads) thread.join();
  MutexLock guard(queue.mutex);
  queue.outcome.not_started = count - queue.next;
  return queue.outcome;
}

}  // namespace sk::cli
