// Finds, in the text of a message, the addresses that only mean something inside an interpreter's sandbox:
// `sandbox:/mnt/data/report.csv`, in every spelling that models write. Pure functions; any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace sk::conversations {

// One address in a text. Offsets are bytes.
struct SandboxLink {
  enum class Form {
    markdown,  // [label](address)
    image,     // ![label](address)
    bare,      // free in the prose
    quoted,    // in code, quotes, <…> or an attribute: what replaces it must be an address again
  };
  Form form = Form::bare;
  size_t start = 0, end = 0;              // of the address alone
  size_t outer_start = 0, outer_end = 0;  // of the whole link with its label
  std::string label;                      // of Markdown, as written
  std::string address;                    // as written; also "data:image/…" of a Markdown image
};

// In order, without overlap, in time linear in the text. Any bytes.
std::vector<SandboxLink> find_sandbox_links(std::string_view text);

// The paths below /mnt/data that an address may mean, the most literal reading first: as written, without
// Markdown's escapes, percent-decoded, without "?…" and "#…", and each in the other Unicode spelling. Empty
// for an address that means none, such as one that climbs out of the folder.
std::vector<std::string> paths_meant(std::string_view address);

// The last part of the path, readable: "report final.csv". Never empty.
std::string name_meant(std::string_view address);

}  // namespace sk::conversations
