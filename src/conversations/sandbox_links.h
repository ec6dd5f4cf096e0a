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
    quoted,    // in code or quotes: its replacement must also be an address
    target,    // in <…>, an attribute or a definition: the same
  };
  Form form = Form::bare;
  size_t start = 0, end = 0;              // of the address alone
  size_t outer_start = 0, outer_end = 0;  // of the whole link with its label, or with its <…>
  std::string label;                      // of a Markdown link, as written
  std::string address;                    // as written; also the "data:image/…" of a Markdown image
};

// Returns links in text order, without overlap. Omits an address that is part of another one, such as
// "https://elsewhere/?u=sandbox:/mnt/data/a". Accepts any bytes; takes linear time.
std::vector<SandboxLink> find_sandbox_links(std::string_view text);

// Returns the paths below /mnt/data that an address may refer to, most literal first. Readings: as written,
// without Markdown escapes, percent-decoded, without "?…" and "#…". Each is also returned in the other
// Unicode normal form. Empty if the address has no such path, for example because it leaves the folder.
std::vector<std::string> paths_meant(std::string_view address);

// Returns beginnings of an address in running text, longest first. They end where a sentence may go on
// without a space, as in "report.csv's", "report.csv:12" and "report.csv—then".
std::vector<std::string> shorter_addresses(std::string_view address);

// Returns the last part of the path in readable form: "report final.csv". Never empty.
std::string name_meant(std::string_view address);

}  // namespace sk::conversations
