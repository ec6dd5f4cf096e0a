#include "interpreter/run/session_outputs.h"

namespace sk::interpreter {

void SessionOutputs::begin(ExecutionFeed& feed, int64_t execution_number) {
  current_ = std::make_unique<OutputCollector>(feed, execution_number, limits_.bytes_max,
                                               limits_.spill_bytes_max, limits_.spill_directory);
}

void SessionOutputs::give_pending() {
  auto pending = std::exchange(pending_, {});
  pending_bytes_ = 0;
  for (const auto& [stream, bytes] : pending) current_->text(stream, bytes);
}

void SessionOutputs::forget_pending() {
  pending_.clear();
  pending_bytes_ = 0;
}

void SessionOutputs::text(sandbox::Stream stream, std::string_view bytes) {
  if (current_) return current_->text(stream, bytes);
  bytes = bytes.substr(0, limits_.bytes_max - pending_bytes_);
  if (bytes.empty()) return;
  pending_bytes_ += bytes.size();
  if (!pending_.empty() && pending_.back().first == stream)
    pending_.back().second.append(bytes);
  else
    pending_.emplace_back(stream, bytes);
}

void SessionOutputs::display(const sandbox::Display& display) {
  if (current_) current_->display(display);
}

void SessionOutputs::clear() {
  if (current_) current_->clear();
}

void SessionOutputs::result(const sandbox::CellResult& result) {
  if (current_) current_->result(result);
}

void SessionOutputs::error(const sandbox::CellError& error) {
  if (current_) current_->error(error);
}

}  // namespace sk::interpreter
