// Project quotas of ext4 and XFS. A session's folder is a project of its own: everything below it counts for
// that project, also files that were deleted and are still open, and the kernel refuses what is over its
// limit with EDQUOT.
#pragma once

#include <cstdint>
#include <string>

#include "sandbox/disk_guard.h"

namespace sk::sandbox {

// Whether the folder's filesystem enforces project quotas now.
bool has_project_quotas(const std::string& folder);

// Makes a new, empty folder a project, if its filesystem has projects; what is created in it belongs to that
// project. The project's number is that of the folder's inode. For the folder's owner.
void make_project(int folder_fd);
// Returns the project of an open file or folder; 0: none.
uint32_t project_of(int fd);
// Moves an open file into a project: only then it can be moved into the project's folder. For the file's
// owner. Throws Error(disk_full) at the project's limit.
void set_project(int fd, uint32_t project);

// Sets the limits of a folder that make_project() made a project; others are left alone. Needs CAP_SYS_ADMIN.
// Throws system_error().
void limit_project(int folder_fd, DiskLimits limits);

}  // namespace sk::sandbox
