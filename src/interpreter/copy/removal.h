// Removes directory trees that code made: of any depth, with modes that forbid it, with few descriptors.
#pragma once

#include <string>

namespace sk::interpreter {

// Removes `name` in the folder `parent` with everything below it. A folder that is not empty is first moved
// to `spare`, a folder of the same filesystem, under a random name, so that no path is longer than two names
// and no recursion is needed. No process may use the tree. Throws when a part of it remains, which is then in
// its place or in `spare`. Nothing happens when the name does not exist.
void remove_tree(int parent, const std::string& name, int spare);

}  // namespace sk::interpreter
