// The error that protects a session from deletion while its own folder holds content that exists nowhere
// else.
#pragma once

#include <vector>

#include "base/error.h"
#include "interpreter/copy/capture.h"

namespace sk::interpreter {

// Names the first item in its message, and up to 100 in the fact `not_kept`, one path per line.
Error only_copies_error(const std::vector<NotKept>& items);

}  // namespace sk::interpreter
