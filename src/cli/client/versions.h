// Finds a version by its id, or by its number within a file.
#pragma once

#include <string>

#include "cli/client/remote.h"

namespace sk::cli {

// Whether the text is a version id ("v_…").
bool is_version_id(std::string_view text);
bool is_file_id(std::string_view text);

// `text` is a version id or a number, as 'sandkeep log' shows them. Error(not_found) if the file has no such
// version, even if another file has that id.
Json find_version(Remote& remote, const RemotePath& where, const std::string& text);

}  // namespace sk::cli
