// Headers that most unit tests use and that are the most expensive to parse. Precompiled once per build.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <future>
#include <random>
#include <set>

#include "base/pch.h"
#include "support/property.h"
