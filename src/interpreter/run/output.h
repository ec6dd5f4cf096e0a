// The outputs of an execution: printed text, displays, results, errors and notes. Only output.cpp knows their
// JSON, which is the same in answers and in the catalog; there, record_rows.cpp adds where notes name paths.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/json.h"
#include "base/sentence.h"

namespace sk::interpreter {

// Text printed on one stream without another output in between.
struct TextOutput {
  enum class Stream { out, err };
  Stream stream = Stream::out;
  std::string text;
  bool operator==(const TextOutput&) const = default;
};

// One object in several forms.
struct Bundle {
  std::string file;  // of its image: a name below outputs/, a path once it is kept; else empty
  std::vector<std::pair<std::string, std::string>> data;  // MIME type → text, or base64 for binary types
  bool is_cut = false;                                    // larger than an answer may be: `data` is empty
  bool operator==(const Bundle&) const = default;

  // Null when it has no such form.
  const std::string* find(std::string_view mime) const;
  // Replaces an existing form of that type.
  void set(std::string_view mime, std::string content);
};

struct DisplayOutput {
  std::string id;          // of a display that may be updated later; else empty
  bool is_update = false;  // replaces the earlier displays of that id
  Bundle bundle;
  bool operator==(const DisplayOutput&) const = default;
};

// The value of a cell's last expression.
struct ResultOutput {
  uint64_t count = 0;  // n in Out[n]
  Bundle bundle;
  bool operator==(const ResultOutput&) const = default;
};

// An exception that ended the cell.
struct ErrorOutput {
  std::string name, value, traceback;
  bool operator==(const ErrorOutput&) const = default;
};

// A sentence from the server.
struct NoteOutput {
  Sentence text;
  bool operator==(const NoteOutput&) const = default;
};

using Output = std::variant<TextOutput, DisplayOutput, ResultOutput, ErrorOutput, NoteOutput>;
using Outputs = std::vector<Output>;

// A visitor made of lambdas, one per kind of output.
template <typename... Visitors>
struct Visit : Visitors... {
  using Visitors::operator()...;
};
template <typename... Visitors>
Visit(Visitors...) -> Visit<Visitors...>;

// Appends an output. Text joins a preceding text of the same stream.
void append(Outputs& outputs, Output output);
// Null for kinds without a bundle.
const Bundle* bundle_of(const Output& output);
Bundle* bundle_of(Output& output);
// The last error; null if there is none.
const ErrorOutput* error_in(const Outputs& outputs);
// The sentence that replaces a cut bundle.
std::string_view cut_message();
// "stdout" or "stderr".
std::string_view name_of(TextOutput::Stream stream);

Json to_json(const Output& output);
Json to_json(const Outputs& outputs);
// Reads the result of to_json(). A kind that a newer server wrote becomes a note.
Output output_from(const Json& json);
Outputs outputs_from(const Json& json);

}  // namespace sk::interpreter
