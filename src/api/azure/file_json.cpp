#include "api/azure/file_json.h"

#include "api/azure/session.h"
#include "base/clock.h"
#include "base/path.h"

namespace sk::api::azure {

Json family_a_file(const workspace::Entry& entry, const interpreter::SessionInfo& session, size_t number) {
  return {{"$id", std::to_string(number)},
          {"properties",
           {{"$id", std::to_string(number + 1)},
            {"filename", session_path(session, entry.path)},
            {"size", entry.size},
            {"lastModifiedTime", to_iso8601(entry.changed_us)}}}};
}

Json family_b_file(const workspace::Entry& entry, const interpreter::SessionInfo& session) {
  bool folder = entry.kind == workspace::EntryKind::folder;
  auto [parent, name] = split_path(session_path(session, entry.path));
  return {{"name", name},
          {"type", folder ? "directory" : "file"},
          {"contentType", folder ? Json() : Json(entry.mime)},
          {"sizeInBytes", folder ? Json() : Json(entry.size)},
          {"lastModifiedAt", to_iso8601(entry.changed_us)},
          {"directory", parent.empty() ? "/mnt/data" : "/mnt/data/" + parent}};
}

}  // namespace sk::api::azure
