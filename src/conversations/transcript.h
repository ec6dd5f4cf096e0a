// Reads a message from an app into one form. The input is plain text, an OpenAI or Foundry response, an
// Assistants message, a chat completion, or a raw event stream. The input is untrusted; missing fields and
// fields of an unexpected type are ignored. Pure functions; any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/json.h"
#include "conversations/sandbox_links.h"

namespace sk::conversations {

// The maximum number of links and annotations in a message; above it, Error(too_large).
constexpr size_t kMentionsMax = 2'000;

// A file that a message mentions. At least one of link, file_id, name, data_uri and elsewhere is set.
struct Mention {
  enum class Kind { link, citation, image, attachment };
  Kind kind = Kind::link;
  std::optional<SandboxLink> link = {};  // its address; the ranges are empty if it is not in the text
  std::string container = {};            // as named in the message: "cntr_…"
  std::string file_id = {};              // "cfile_…", "file-…"
  std::string name = {};                 // as named in the message; may be empty
  std::string data_uri = {};             // the content of the file
  std::string elsewhere = {};            // a complete web address, which may contain a signature

  // The name to display, also used for a stored copy.
  std::string shown_name() const;
};

struct Transcript {
  std::string role;                     // "assistant" if a response has none
  std::string text;                     // Markdown, as the model wrote it
  std::string response_id, model;       // empty if unknown
  std::optional<TimeUs> completed_us;   // when the response was complete
  std::optional<TimeUs> created_us;     // when it was requested
  std::vector<std::string> containers;  // all named containers in order, without duplicates
  std::vector<Mention> mentions;
};

Transcript read_plain_text(std::string text);
// Reads a response, one of its messages, a list of its items, an Assistants message or a chat completion.
// Error(bad_request) for other JSON.
Transcript read_response(const Json& response);
// Reads raw server-sent events, complete or truncated. Error(bad_request) if no event belongs to a response.
Transcript read_event_stream(std::string_view text);

}  // namespace sk::conversations
