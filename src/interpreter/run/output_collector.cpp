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
                                 uint64_t spill_bytes_max, std::string spill_directory, std::string folder)
    : feed_(feed),
      number_(execution_number),
      bytes_max_(bytes_max),
      spill_bytes_max_(spill_bytes_max),
      folder_(std::move(folder)),
      text_spill_(spill_directory),
      image_spill_(spill_directory),
      images_share_(feed.budget()) {}

uint64_t OutputCollector::Spill::append(std::string_view bytes) {
  if (!file_) {
    int fd = ::open(directory_.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (fd < 0) throw system_error("cannot make a temporary file in " + directory_, errno);
    file_ = std::make_shared<Fd>(fd);
  }
  write_all(file_->get(), as_bytes(bytes), "an execution's output");
  return std::exchange(size_, size_ + bytes.size());
}

bool OutputCollector::fits(size_t bytes, Part part) {
  if (part == Part::further && outputs_.size() >= kOutputsMax) return false;
  // The feed and the answer each hold it.
  if (bytes_ + bytes > bytes_max_ || !feed_.reserve(2 * bytes)) return false;
  bytes_ += bytes;
  return true;
}

void OutputCollector::push(Output output) {
  feed_.add(OutputAdded{output});
  append(outputs_, std::move(output));
}

void OutputCollector::text(sandbox::Stream stream, std::string_view bytes) {
  if (bytes.empty()) return;
  if (cut_) return spill_text(bytes);
  using To = TextOutput::Stream;
  auto to = stream == sandbox::Stream::output ? To::out : To::err;
  const auto* last = outputs_.empty() ? nullptr : std::get_if<TextOutput>(&outputs_.back());
  if (!fits(bytes.size(), last != nullptr && last->stream == to ? Part::joined : Part::further)) {
    cut_ = true;
    spill_text(std::exchange(all_text_, {}));
    return spill_text(bytes);
  }
  all_text_ += bytes;
  // Followers get each piece as it arrives; the answer joins the pieces of one stream.
  push(TextOutput{to, std::string(bytes)});
}

void OutputCollector::spill_text(std::string_view bytes) {
  text_spill_.append(bytes.substr(0, spill_bytes_max_ - text_spill_.size()));
}

Bundle OutputCollector::take_bundle(const sandbox::MimeBundle& shown, size_t further_bytes) {
  Bundle bundle;
  size_t total = further_bytes;
  for (const auto& part : shown.parts)
    total += part.mime.size() + (part.is_binary ? part.content.size() * 4 / 3 : part.content.size());
  bundle.is_cut = !fits(total, Part::further);
  for (const auto& part : shown.parts) {
    std::string extension = extension_of(part.mime);
    // Skips text that claims the type of an image: no client can show it.
    if (!extension.empty() && extension != ".svg" && !part.is_binary) continue;
    if (!extension.empty()) keep_image(extension, part.content, bundle);
    if (!bundle.is_cut)
      bundle.set(part.mime, part.is_binary ? to_base64(as_bytes(part.content)) : part.content);
  }
  return bundle;
}

void OutputCollector::keep_image(const std::string& extension, const std::string& bytes, Bundle& bundle) {
  constexpr size_t kInMemoryMax = 128 << 10, kFileBytesMin = 4 << 10;
  OutputFile file;
  file.name = std::to_string(number_) + "-" + std::to_string(++images_) + extension;
  if (bytes.size() <= kInMemoryMax && images_share_.take(bytes.size())) {
    file.bytes = bytes;
  } else {
    file.offset = image_spill_.append(bytes);
    file.spilled = image_spill_.file();
    file.size = bytes.size();
  }
  file.output_index = outputs_.size() < kOutputsMax ? static_cast<int>(outputs_.size()) : -1;
  file_bytes_ += std::max(bytes.size(), kFileBytesMin);
  bundle.file = file.name;
  files_.push_back(std::move(file));
}

// An output without room in the answer is listed without data, as long as there is room for that.
void OutputCollector::show(Output output, const sandbox::MimeBundle& shown) {
  const Bundle& bundle = *bundle_of(output);
  bool has_file = !bundle.file.empty();
  if (bundle.is_cut && !has_file) drop(shown);
  if (outputs_.size() < kOutputsMax)
    push(std::move(output));
  else if (has_file)
    ++unlisted_images_;
}

void OutputCollector::drop(const sandbox::MimeBundle& shown) {
  ++dropped_;
  constexpr size_t kKindsMax = 10, kKindBytesMax = 100;
  for (const auto& part : shown.parts) {
    dropped_bytes_ += part.is_binary ? part.content.size() * 4 / 3 : part.content.size();
    std::string kind = part.mime.substr(0, kKindBytesMax);
    if (dropped_kinds_.size() < kKindsMax && std::ranges::find(dropped_kinds_, kind) == dropped_kinds_.end())
      dropped_kinds_.push_back(std::move(kind));
  }
}

void OutputCollector::note_dropped() {
  const std::string limit =
      "its outputs have at most " + human_size(bytes_max_) + " and " + std::to_string(kOutputsMax) + " parts";
  if (dropped_ > 0) {
    std::string what = dropped_ == 1 ? "A display" : std::to_string(dropped_) + " displays";
    std::string kinds;
    for (const auto& kind : dropped_kinds_) kinds.append(kinds.empty() ? "" : ", ").append(kind);
    if (!kinds.empty()) kinds = " (" + kinds + ")";
    note(what + " of " + human_size(dropped_bytes_) + kinds + (dropped_ == 1 ? " is" : " are") +
         " not in this answer: " + limit + ". Save it to a file to keep it.");
  }
  if (unlisted_images_ > 0)
    note(std::to_string(unlisted_images_) + " more images are only in the folder outputs: " + limit + ".");
  if (dropped_errors_ > 0)
    note(std::to_string(dropped_errors_) + " more errors are not in this answer: " + limit + ".");
}

void OutputCollector::display(const sandbox::Display& display) {
  // Longer than any id that IPython makes; a display and its updates have the same beginning.
  constexpr size_t kIdBytesMax = 256;
  std::string id = display.id.substr(0, kIdBytesMax);
  auto bundle = take_bundle(display.bundle, id.size());
  show(DisplayOutput{std::move(id), display.update, std::move(bundle)}, display.bundle);
}

void OutputCollector::clear() {
  feed_.add(OutputsCleared{});
  outputs_.clear();
  for (auto& file : files_) file.output_index = -1;
}

void OutputCollector::result(const sandbox::CellResult& result) {
  show(ResultOutput{result.count, take_bundle(result.bundle, 0)}, result.bundle);
}

void OutputCollector::error(const sandbox::CellError& error) {
  constexpr size_t kNameMax = 1'000, kMax = 64 << 10, kShortMax = 1'000, kShortErrorsMax = 10;
  auto cut = [](const std::string& text, size_t bytes_max) {
    return text.size() > bytes_max ? text.substr(0, bytes_max) + "\n… cut" : text;
  };
  ErrorOutput shown{error.name.substr(0, kNameMax), cut(error.value, kMax), cut(error.traceback, kMax)};
  if (!fits(shown.name.size() + shown.value.size() + shown.traceback.size(), Part::further)) {
    // The error that ended a cell is told even when there is no room, but code can send any number of them.
    if (++short_errors_ > kShortErrorsMax) {
      ++dropped_errors_;
      return;
    }
    shown.value = cut(shown.value, kShortMax);
    shown.traceback = cut(shown.traceback, kShortMax);
  }
  push(std::move(shown));
}

void OutputCollector::note(const Sentence& text) { push(NoteOutput{text}); }

void OutputCollector::flush() {
  note_dropped();
  if (!cut_ || !text_spill_.file()) return;
  OutputFile file;
  file.name = std::to_string(number_) + "-output.txt";
  file.spilled = text_spill_.file();
  file.size = text_spill_.size();
  file.is_text = true;
  std::string all = file.size < spill_bytes_max_ ? "the whole of it (" + human_size(file.size) + ")"
                                                 : "its first " + human_size(spill_bytes_max_);
  std::string path = (folder_.empty() ? "" : folder_ + "/") + "outputs/" + file.name;
  note("The output was cut at " + human_size(bytes_max_) + "; " + all + " is in the file " +
       quoted_path(path) + ".");
  files_.push_back(std::move(file));
}

std::vector<OutputFile> OutputCollector::take_files() {
  file_bytes_ = 0;
  images_share_.give_back(images_share_.bytes());
  image_spill_.begin_again();
  return std::exchange(files_, {});
}

}  // namespace sk::interpreter
