// Tools that only the client of an execution has: code asks for them through its kernel, the client hears of
// it in the execution's feed, and brings the results.
#include "base/error.h"
#include "interpreter/live_session.h"

namespace sk::interpreter {

bool LiveSession::answer_tools(const Id& execution, int64_t event, Json results) {
  uint64_t request = 0;
  {
    std::lock_guard lock(tools_mutex_);
    // A repeated answer to earlier calls must not reach the calls that the code made since.
    if (!execution || waits_for_tools_ != execution || tools_event_ != event) return false;
    waits_for_tools_ = {};
    request = tools_request_;
  }
  strand_.post([this, self = shared_from_this(), execution, request, results = std::move(results)] {
    if (!kernel_ || !current_ || current_->execution.id != execution) return;
    try {
      kernel_->reply(request, results);
    } catch (const Error& error) {
      kernel_->refuse(request, sk::info(error.code()).name, error.message());
    }
  });
  return true;
}

// Code waits for tools that only the client has; who follows the feed brings their results.
void LiveSession::ask_for_tools(const sandbox::KernelRequest& request) {
  constexpr size_t kCallsMax = 1000;
  auto refuse = [&](Code code, std::string_view why) {
    kernel_->refuse(request.id, sk::info(code).name, why);
  };
  if (!current_ || !current_->wanted.tools)
    return refuse(Code::conflict, "nobody offered tools to this cell");
  auto calls = request.params.find("calls");
  if (calls == request.params.end() || !calls->is_array() || calls->empty() || calls->size() > kCallsMax)
    return refuse(Code::bad_request, "calls must be a list of 1 to 1,000 calls");
  // Locked while the feed is told, because a client may answer before add() returns the event's number.
  std::lock_guard lock(tools_mutex_);
  if (waits_for_tools_) return refuse(Code::conflict, "this cell waits for tools already");
  waits_for_tools_ = current_->execution.id;
  tools_request_ = request.id;
  tools_event_ = current_->feed->add(ToolsAsked{*calls});
}

// An execution that ended while it waited leaves a question that nobody will answer.
void LiveSession::drop_tools() {
  uint64_t request = 0;
  {
    std::lock_guard lock(tools_mutex_);
    if (!waits_for_tools_) return;
    waits_for_tools_ = {};
    request = tools_request_;
  }
  if (kernel_) kernel_->refuse(request, "gone", "the cell that asked has ended");
}

}  // namespace sk::interpreter
