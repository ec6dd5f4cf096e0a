#include "interpreter/run/session_outputs.h"

#include <utility>

#include "base/text.h"

namespace sk::interpreter {

namespace {

constexpr size_t kPiecesMax = 10'000;  // empty displays and single letters take memory, too

}  // namespace

void SessionOutputs::begin(ExecutionFeed& feed, int64_t execution_number) {
  current_ =
      std::make_unique<OutputCollector>(feed, execution_number, limits_.bytes_max, limits_.spill_bytes_max,
                                        limits_.spill_directory, limits_.folder);
}

void SessionOutputs::give_pending() {
  auto pending = std::exchange(pending_, {});
  size_t dropped_bytes = dropped_bytes_;
  forget_pending();
  for (const auto& one : pending) {
    if (const auto* text = std::get_if<Text>(&one))
      current_->text(text->stream, text->bytes);
    else
      current_->display(std::get<sandbox::Display>(one));
  }
  if (dropped_bytes > 0)
    current_->note(human_size(dropped_bytes) + " of output between cells were dropped: at most " +
                   human_size(limits_.bytes_max) + " wait for the next cell. Print to a file to keep more.");
}

void SessionOutputs::forget_pending() {
  pending_.clear();
  pending_bytes_ = dropped_bytes_ = 0;
}

void SessionOutputs::text(sandbox::Stream stream, std::string_view bytes) {
  if (current_) return current_->text(stream, bytes);
  auto* last = pending_.empty() ? nullptr : std::get_if<Text>(&pending_.back());
  bool continues = last != nullptr && last->stream == stream;
  bool has_room = continues || pending_.size() < kPiecesMax;
  auto fits = bytes.substr(0, has_room ? limits_.bytes_max - pending_bytes_ : 0);
  dropped_bytes_ += bytes.size() - fits.size();
  if (fits.empty()) return;
  pending_bytes_ += fits.size();
  if (continues)
    last->bytes.append(fits);
  else
    pending_.emplace_back(std::in_place_type<Text>, Text{stream, std::string(fits)});
}

void SessionOutputs::display(const sandbox::Display& display) {
  if (current_) return current_->display(display);
  size_t bytes = display.id.size() + display.bundle.metadata.size();
  for (const auto& part : display.bundle.parts) bytes += part.mime.size() + part.content.size();
  if (bytes > limits_.bytes_max - pending_bytes_ || pending_.size() >= kPiecesMax) {
    dropped_bytes_ += bytes;
    return;
  }
  pending_bytes_ += bytes;
  pending_.emplace_back(std::in_place_type<sandbox::Display>, display);
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
