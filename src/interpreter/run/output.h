// What an execution shows: printed text, displays, results, errors and notes. output.cpp is the one place
// that knows their JSON, which is the same in answers and in the catalog.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/json.h"

namespace sk::interpreter {

// Printed on one stream, without another output in between.
struct TextOutput {
  enum class Stream { out, err };
  Stream stream = Stream::out;
  std::string text;
  bool operator==(const TextOutput&) const = default;
};

// One thing in several forms.
struct Bundle {
  std::string file;  // that one of its images is kept as: below outputs/, a path once it is kept; else empty
  std::vector<std::pair<std::string, std::string>> data;  // MIME type → text, or base64 of binary kinds
  bool is_cut = false;                                    // larger than an answer may be: `data` is empty
  bool operator==(const Bundle&) const = default;

  // Null where it has no such form.
  const std::string* find(std::string_view mime) const;
  // Replaces a form of that type.
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
  uint64_t count = 0;  // the n of Out[n]
  Bundle bundle;
  bool operator==(const ResultOutput&) const = default;
};

// An exception that ended the cell.
struct ErrorOutput {
  std::string name, value, traceback;
  bool operator==(const ErrorOutput&) const = default;
};

// A sentence of the server's.
struct NoteOutput {
  std::string text;
  bool operator==(const NoteOutput&) const = default;
};

using Output = std::variant<TextOutput, DisplayOutput, ResultOutput, ErrorOutput, NoteOutput>;
using Outputs = std::vector<Output>;

// A visitor of lambdas, one per kind of output.
template <typename... Visitors>
struct Visit : Visitors... {
  using Visitors::operator()...;
};
template <typename... Visitors>
Visit(Visitors...) -> Visit<Visitors...>;

// Appends it; text joins the text of its stream that is last.
void append(Outputs& outputs, Output output);
// Null for kinds that show none.
const Bundle* bundle_of(const Output& output);
Bundle* bundle_of(Output& output);
// The last error; null without one.
const ErrorOutput* error_in(const Outputs& outputs);
// The sentence about a bundle that is cut.
std::string_view cut_message();
// "stdout" or "stderr".
std::string_view name_of(TextOutput::Stream stream);

Json to_json(const Output& output);
Json to_json(const Outputs& outputs);
// Takes what to_json() wrote. A kind that a newer server wrote is read as a note.
Output output_from(const Json& json);
Outputs outputs_from(const Json& json);

}  // namespace sk::interpreter
