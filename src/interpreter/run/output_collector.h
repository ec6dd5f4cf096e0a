// Collects the outputs of one execution: joined, limited, numbered. Text beyond the limit goes only into a
// file, images are files only, other displays are dropped, and notes say so.
#pragma once

#include <string>
#include <vector>

#include "base/fd.h"
#include "interpreter/run/execution_feed.h"
#include "sandbox/kernel.h"

namespace sk::interpreter {

// An image or a long output to keep as a file of the session.
struct OutputFile {
  std::string name;   // below outputs/
  std::string bytes;  // or, for long output, the spilled text:
  std::shared_ptr<Fd> spilled;
  int output_index = -1;  // the output that shows it
};

// Belongs to one execution; one thread at a time.
class OutputCollector {
 public:
  OutputCollector(ExecutionFeed& feed, int64_t execution_number, size_t bytes_max, uint64_t spill_bytes_max,
                  std::string spill_directory);

  void text(sandbox::Stream stream, std::string_view bytes);
  void display(const sandbox::Display& display);
  void clear();
  void result(const sandbox::CellResult& result);
  void error(const sandbox::CellError& error);
  void note(const Sentence& text);
  // Sends text that still waits to be joined, and notes what was cut.
  void flush();

  std::vector<OutputFile> take_files();
  // Number of bytes in memory of the files that take_files() would return.
  size_t file_bytes() const { return file_bytes_; }
  Outputs take_outputs() { return std::move(outputs_); }
  Outputs& outputs() { return outputs_; }

 private:
  Bundle take_bundle(const sandbox::MimeBundle& shown);
  void push(Output output);
  void spill(std::string_view bytes);
  void drop(const sandbox::MimeBundle& shown, size_t bytes);
  void note_dropped();
  bool fits(size_t bytes);

  ExecutionFeed& feed_;
  const int64_t number_;
  const size_t bytes_max_;
  const uint64_t spill_bytes_max_;
  const std::string spill_directory_;
  Outputs outputs_;
  std::vector<OutputFile> files_;
  size_t file_bytes_ = 0;
  size_t bytes_ = 0;
  int images_ = 0;
  bool cut_ = false;
  std::string all_text_;  // all text printed so far, until it is spilled
  std::shared_ptr<Fd> spilled_;
  uint64_t spilled_bytes_ = 0;
  // Displays that are in no file, and that the answer has no room for.
  size_t dropped_ = 0;
  uint64_t dropped_bytes_ = 0;
  std::vector<std::string> dropped_kinds_;  // MIME types, each once; at most a few
};

}  // namespace sk::interpreter
