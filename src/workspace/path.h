// The paths of base/path.h under the name of this room, whose files they name.
#pragma once

#include "base/path.h"

namespace sk::workspace {

using sk::clean_file_path;
using sk::clean_path;
using sk::escape_name;
using sk::glob_match;
using sk::is_within;
using sk::join_path;
using sk::kDepthMax;
using sk::kNameBytesMax;
using sk::kPathBytesMax;
using sk::split_path;
using sk::unescape_name;

}  // namespace sk::workspace
