// Collects the outputs of one execution: joined, limited, numbered. Everything that code sends counts: text,
// names, ids, types, errors and tracebacks. Text beyond the limit goes only into a file, images are files
// only, other displays are dropped, and notes say so.
#pragma once

#include <string>
#include <vector>

#include "base/fd.h"
#include "interpreter/run/execution_feed.h"
#include "sandbox/kernel.h"

namespace sk::interpreter {

// An image or a long output to keep as a file of the session.
struct OutputFile {
  std::string name;        // below outputs/
  std::string bytes = {};  // of a small image; others are a part of a file without a name:
  std::shared_ptr<Fd> spilled = {};
  uint64_t offset = 0, size = 0;  // of the spilled part
  bool is_text = false;           // the whole printed text
  int output_index = -1;          // the output that shows it
};

// Limit on the outputs of one execution: each takes memory, even an empty one.
constexpr size_t kOutputsMax = 10'000;

// Belongs to one execution; one thread at a time.
class OutputCollector {
 public:
  // `folder`: the session's, in the workspace, for notes that name a file.
  OutputCollector(ExecutionFeed& feed, int64_t execution_number, size_t bytes_max, uint64_t spill_bytes_max,
                  std::string spill_directory, std::string folder);

  void text(sandbox::Stream stream, std::string_view bytes);
  void display(const sandbox::Display& display);
  void clear();
  void result(const sandbox::CellResult& result);
  void error(const sandbox::CellError& error);
  void note(const Sentence& text);
  // Sends text that still waits to be joined, and notes what was cut.
  void flush();

  std::vector<OutputFile> take_files();
  // Number of bytes of the files that take_files() would return, without the printed text; at least 4 KiB for
  // each.
  size_t file_bytes() const { return file_bytes_; }
  Outputs take_outputs() { return std::move(outputs_); }
  Outputs& outputs() { return outputs_; }

 private:
  // One file without a name, to which parts are appended.
  class Spill {
   public:
    explicit Spill(std::string directory) : directory_(std::move(directory)) {}
    // Returns where the bytes begin.
    uint64_t append(std::string_view bytes);
    const std::shared_ptr<Fd>& file() const { return file_; }
    uint64_t size() const { return size_; }
    // The next part begins another file.
    void begin_again() {
      file_.reset();
      size_ = 0;
    }

   private:
    const std::string directory_;
    std::shared_ptr<Fd> file_;  // shared with the OutputFiles; null until the first part
    uint64_t size_ = 0;
  };

  // Reads a bundle that is shown with so many further bytes of names.
  Bundle take_bundle(const sandbox::MimeBundle& shown, size_t further_bytes);
  void show(Output output, const sandbox::MimeBundle& shown);
  void keep_image(const std::string& extension, const std::string& bytes, Bundle& bundle);
  void push(Output output);
  void spill_text(std::string_view bytes);
  void drop(const sandbox::MimeBundle& shown);
  void note_dropped();
  // Takes room for an output. False when its bytes, or one more output, exceed a limit.
  enum class Part { further, joined };
  bool fits(size_t bytes, Part part);

  ExecutionFeed& feed_;
  const int64_t number_;
  const size_t bytes_max_;
  const uint64_t spill_bytes_max_;
  const std::string folder_;
  Outputs outputs_;
  std::vector<OutputFile> files_;
  size_t file_bytes_ = 0;
  size_t bytes_ = 0;
  int images_ = 0;
  bool cut_ = false;
  std::string all_text_;  // all text printed so far, until it is spilled
  Spill text_spill_, image_spill_;
  OutputShare images_share_;  // of small images that wait in memory
  // Displays that are in no file, and that the answer has no room for.
  size_t dropped_ = 0;
  uint64_t dropped_bytes_ = 0;
  size_t unlisted_images_ = 0;  // files without an output
  size_t short_errors_ = 0, dropped_errors_ = 0;
  std::vector<std::string> dropped_kinds_;  // MIME types, each once; at most a few
};

}  // namespace sk::interpreter
