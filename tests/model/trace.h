// What there is after a step, for somebody who looks into a failure.
#pragma once

#include <string>

#include "model/judge.h"
#include "model/step.h"

namespace sk::model {

std::string describe(const Step& step, const Tree& copy, const Listing& workspace, Json answer);

}  // namespace sk::model
