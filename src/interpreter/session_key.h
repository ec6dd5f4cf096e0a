// A session as its writes name it.
#pragma once

#include "catalog/database.h"

namespace sk::interpreter {

struct SessionKey {
  Id id;
  Id workspace;

  catalog::Scope scope() const { return catalog::Scope::workspace(workspace); }
};

}  // namespace sk::interpreter
