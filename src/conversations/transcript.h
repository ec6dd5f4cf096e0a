// What an app hands over as a message, read into one form: plain text, a whole OpenAI or Foundry response
// (also an Assistants message or a chat completion), or the raw event stream of one. Nothing in it is
// trusted, and whatever is missing or of another type than usual is passed over. Pure functions; any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/json.h"
#include "conversations/sandbox_links.h"

namespace sk::conversations {

// How many links or annotations a message may have at all; more is Error(too_large).
constexpr size_t kMentionsMax = 2'000;

// A file that a message speaks of. At least one of link, file_id, name, data_uri and elsewhere is there.
struct Mention {
  enum class Kind { link, citation, image, attachment };
  Kind kind = Kind::link;
  std::optional<SandboxLink> link = {};  // its address; empty ranges where that does not stand in the text
  std::string container = {};            // as the message names it: "cntr_…"
  std::string file_id = {};              // "cfile_…", "file-…"
  std::string name = {};                 // as the message says; empty where it does not
  std::string data_uri = {};             // the file itself
  std::string elsewhere = {};            // an address on the web, whole: it may carry a signature

  // What is shown, and what a kept copy is called.
  std::string shown_name() const;
};

struct Transcript {
  std::string role;                     // "assistant" where a response does not say
  std::string text;                     // Markdown, as the model wrote it
  std::string response_id, model;       // where known
  std::optional<TimeUs> completed_us;   // when the response was complete
  std::optional<TimeUs> created_us;     // when it was asked for
  std::vector<std::string> containers;  // all that are named, in order, once each
  std::vector<Mention> mentions;
};

Transcript read_plain_text(std::string text);
// A response, one of its messages, a list of its items, an Assistants message, a chat completion.
// Error(bad_request) for JSON that is none of these.
Transcript read_response(const Json& response);
// Server-sent events as they came over the wire, also cut short. Error(bad_request) when there is no event in
// it that belongs to a response.
Transcript read_event_stream(std::string_view text);

}  // namespace sk::conversations
