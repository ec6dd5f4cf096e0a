// Drops the server's privileges before it starts threads and reads a byte from clients. SECURITY.md has the
// table. Needs no configuration; a kernel without one of the mechanisms gets the others.
#pragma once

#include <initializer_list>
#include <string>
#include <vector>

namespace sk::sandbox {

struct ServerConfinement {
  std::string data_folder;                  // written to, with all that its links name
  std::vector<std::string> control_groups;  // folders of the server's control groups
  bool listens_below_1024 = false;
};

// Gives up supplementary groups and all capabilities but the named ones, new privileges, writing outside of
// the folders, and most system calls, among them those that start programs. Applies to this thread, which
// must be the only one, and to those that it starts. Throws Error(internal) when the kernel refuses.
void confine_server(const ServerConfinement& confinement);

// Gives up all capabilities but these, irrevocably. Throws Error(internal).
void keep_capabilities(std::initializer_list<int> kept);

}  // namespace sk::sandbox
