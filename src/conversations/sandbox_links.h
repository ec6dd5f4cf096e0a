// Finds addresses in a message's text that are valid only inside a sandbox, such as
// `sandbox:/mnt/data/report.csv`, in all spellings that models write. Pure functions; any thread.
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
    bare,      // in running text
    quoted,    // in code, quotes, <…> or an attribute: its replacement must also be an address
  };
  Form form = Form::bare;
  size_t start = 0, end = 0;              // of the address alone
  size_t outer_start = 0, outer_end = 0;  // of the whole link with its label
  std::string label;                      // of a Markdown link, as written
  std::string address;                    // as written; also the "data:image/…" of a Markdown image
};

// Returns links in text order, without overlap. Accepts any bytes; takes linear time.
std::vector<SandboxLink> find_sandbox_links(std::string_view text);

// Returns the paths below /mnt/data that an address may refer to, most literal first. Readings: as written,
// without Markdown escapes, percent-decoded, without "?…" and "#…". Each is also returned in the other
// Unicode normal form. Empty if the address has no such path, for example because it leaves the folder.
std::vector<std::string> paths_meant(std::string_view address);

// Returns the last part of the path in readable form: "report final.csv". Never empty.
std::string name_meant(std::string_view address);

}  // namespace sk::conversations
