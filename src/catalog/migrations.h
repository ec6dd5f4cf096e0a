// The schema's numbered steps, built in from src/catalog/migrations/*.sql in order of their names. A step
// that was released never changes.
#pragma once

#include <string>
#include <vector>

namespace sk::catalog {

struct Migration {
  std::string name;
  std::string sql;
};

std::vector<Migration> migrations();

}  // namespace sk::catalog
