#include "interpreter/run/client_tools.h"

#include "base/error.h"

namespace sk::interpreter {

namespace {

constexpr size_t kCallsMax = 1000;
constexpr size_t kCallBytesMax = 1 << 20;  // of all calls of one request, as JSON

}  // namespace

void ClientTools::ask(const sandbox::KernelRequest& request, const Id& execution, ExecutionFeed& feed) {
  auto calls = request.params.find("calls");
  if (calls == request.params.end() || !calls->is_array() || calls->empty() || calls->size() > kCallsMax)
    throw Error(Code::bad_request, "calls must be a list of 1 to 1,000 calls");
  if (to_text(*calls).size() > kCallBytesMax)
    throw Error(Code::too_large, "the calls have more than " + std::to_string(kCallBytesMax) + " bytes");
  // Holds the lock while adding to the feed, because a client may answer before add() returns the event's
  // number.
  MutexLock lock(mutex_);
  if (waiting_) throw Error(Code::conflict, "this cell already waits for tools");
  int64_t event = feed.add(ToolsAsked{*calls});
  waiting_ = {execution, request.id, event};
}

std::optional<uint64_t> ClientTools::take(const Id& execution, int64_t event) {
  MutexLock lock(mutex_);
  // A repeated answer to earlier calls must not reach calls that the code made since.
  if (!waiting_ || waiting_->execution != execution || waiting_->event != event) return std::nullopt;
  return std::exchange(waiting_, std::nullopt)->request;
}

std::optional<uint64_t> ClientTools::drop() {
  MutexLock lock(mutex_);
  if (!waiting_) return std::nullopt;
  return std::exchange(waiting_, std::nullopt)->request;
}

}  // namespace sk::interpreter
