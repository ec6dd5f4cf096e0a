// Tests assert an error's code, never its wording; where the wording is the point (a name it must mention),
// they say so.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "base/error.h"

namespace sk::test {

// Runs `action`, which must throw an Error of that code; gives its message.
inline std::string expect_error(Code code, const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& e) {
    EXPECT_EQ(info(e.code()).name, info(code).name) << e.message();
    return e.message();
  }
  ADD_FAILURE() << "no error was thrown, expected " << info(code).name;
  return {};
}

}  // namespace sk::test
