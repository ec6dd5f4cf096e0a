// Bytes as a content of the keep, for tests that put files.
#pragma once

#include <string_view>

#include "workspace/intake.h"

namespace sk {

inline workspace::Content content_of(workspace::KeepContext& context, std::string_view bytes) {
  workspace::Intake intake(context);
  intake.write(bytes);
  return intake.finish();
}

}  // namespace sk
