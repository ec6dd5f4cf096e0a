// Numbered schema migrations, embedded from src/catalog/migrations/*.sql in order of their names. A released
// migration never changes.
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
