#include "interpreter/run/output_collector.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>

#include "base/error.h"

namespace sk::interpreter {

namespace {

std::string extension_of(std::string_view mime) {
  if (mime == "image/png") return ".png";
  if (mime == "image/jpeg") return ".jpg";
  if (mime == "image/svg+xml") return ".svg";
  if (mime == "image/gif") return ".gif";
  if (mime == "image/webp") return ".webp";
  return {};
}

}  // namespace

OutputCollector::OutputCollector(ExecutionFeed& feed, int64_t execution_number, size_t bytes_max,
                                 uint64_t spill_bytes_max, std::string spill_directory)
    : feed_(feed),
      number_(execution_number),
      bytes_max_(bytes_max),
      spill_bytes_max_(spill_bytes_max),
      spill_directory_(std::move(spill_directory)) {}

bool OutputCollector::fits(size_t bytes) {
  if (bytes_ + bytes > bytes_max_) return false;
  bytes_ += bytes;
  return true;
}

void OutputCollector::push(Output output) {
  feed_.add(OutputAdded{output});
  append(outputs_, std::move(output));
}

void OutputCollector::text(sandbox::Stream stream, std::string_view bytes) {
  if (bytes.empty()) return;
  if (cut_) return spill(bytes);
  if (!fits(bytes.size())) {
    cut_ = true;
    spill(all_text_);
    all_text_.clear();
    return spill(bytes);
  }
  all_text_ += bytes;
  // Followers get each piece as it arrives; the answer joins the pieces of one stream.
  using To = TextOutput::Stream;
  push(TextOutput{stream == sandbox::Stream::output ? To::out : To::err, std::string(bytes)});
}

void OutputCollector::spill(std::string_view bytes) {
  if (!spilled_) {
    int fd = ::open(spill_directory_.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (fd < 0) throw system_error("cannot make a temporary file in " + spill_directory_, errno);
    spilled_ = std::make_shared<Fd>(fd);
  }
  if (spilled_bytes_ >= spill_bytes_max_) return;
  bytes = bytes.substr(0, spill_bytes_max_ - spilled_bytes_);
  write_all(spilled_->get(), as_bytes(bytes), "an execution's output");
  spilled_bytes_ += bytes.size();
}

Bundle OutputCollector::take_bundle(const sandbox::MimeBundle& shown) {
  Bundle bundle;
  size_t total = 0;
  for (const auto& part : shown.parts)
    total += part.is_binary ? part.content.size() * 4 / 3 : part.content.size();
  bundle.is_cut = !fits(total);
  const size_t files_before = files_.size();
  for (const auto& part : shown.parts) {
    std::string extension = extension_of(part.mime);
    // Skips text that claims the type of an image: no client can show it.
    if (!extension.empty() && extension != ".svg" && !part.is_binary) continue;
    if (!extension.empty()) {
      OutputFile file;
      file.name = std::to_string(number_) + "-" + std::to_string(++images_) + extension;
      file.bytes = part.content;
      file.output_index = static_cast<int>(outputs_.size());
      file_bytes_ += file.bytes.size();
      bundle.file = file.name;
      files_.push_back(std::move(file));
    }
    if (!bundle.is_cut)
      bundle.set(part.mime, part.is_binary ? to_base64(as_bytes(part.content)) : part.content);
  }
  if (bundle.is_cut && files_.size() == files_before) drop(shown, total);
  return bundle;
}

void OutputCollector::drop(const sandbox::MimeBundle& shown, size_t bytes) {
  ++dropped_;
  dropped_bytes_ += bytes;
  constexpr size_t kKindsMax = 10, kKindBytesMax = 100;
  for (const auto& part : shown.parts) {
    std::string kind = part.mime.substr(0, kKindBytesMax);
    if (dropped_kinds_.size() < kKindsMax && std::ranges::find(dropped_kinds_, kind) == dropped_kinds_.end())
      dropped_kinds_.push_back(std::move(kind));
  }
}

void OutputCollector::note_dropped() {
  if (dropped_ == 0) return;
  std::string what = dropped_ == 1 ? "A display" : std::to_string(dropped_) + " displays";
  std::string kinds;
  for (const auto& kind : dropped_kinds_) kinds.append(kinds.empty() ? "" : ", ").append(kind);
  note(what + " of " + human_size(dropped_bytes_) + " (" + kinds + ") " + (dropped_ == 1 ? "is" : "are") +
       " not in this answer: its outputs have at most " + human_size(bytes_max_) +
       ". Save it to a file to keep it.");
}

void OutputCollector::display(const sandbox::Display& display) {
  push(DisplayOutput{display.id, display.update, take_bundle(display.bundle)});
}

void OutputCollector::clear() {
  feed_.add(OutputsCleared{});
  outputs_.clear();
  for (auto& file : files_) file.output_index = -1;
}

void OutputCollector::result(const sandbox::CellResult& result) {
  push(ResultOutput{result.count, take_bundle(result.bundle)});
}

void OutputCollector::error(const sandbox::CellError& error) {
  // Code controls the length of a traceback.
  constexpr size_t kMax = 64 << 10;
  push(ErrorOutput{
      error.name.substr(0, 1000), error.value.substr(0, kMax),
      error.traceback.size() > kMax ? error.traceback.substr(0, kMax) + "\n… cut" : error.traceback});
}

void OutputCollector::note(const Sentence& text) { push(NoteOutput{text}); }

void OutputCollector::flush() {
  note_dropped();
  if (!cut_ || !spilled_) return;
  OutputFile file;
  file.name = std::to_string(number_) + "-output.txt";
  file.spilled = spilled_;
  files_.push_back(file);
  std::string all = spilled_bytes_ < spill_bytes_max_ ? "the whole of it (" + human_size(spilled_bytes_) + ")"
                                                      : "its first " + human_size(spill_bytes_max_);
  note("The output was cut at " + human_size(bytes_max_) + "; " + all + " is in the file outputs/" +
       file.name + ".");
}

std::vector<OutputFile> OutputCollector::take_files() {
  file_bytes_ = 0;
  return std::exchange(files_, {});
}

}  // namespace sk::interpreter
