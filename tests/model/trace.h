// What there is after a step, for somebody who looks into a failure.
#pragma once

#include <string>

#include "model/judge.h"
#include "model/step.h"

namespace sk::model {

// An answer without what it lists of the workspace.
std::string said(Json answer);
std::string describe(const Step& step, const Tree& copy, const Listing& workspace, Json answer);

}  // namespace sk::model
