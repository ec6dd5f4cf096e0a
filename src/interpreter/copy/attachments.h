// Files that a chat app sends again with every message. Each is put into the session's folder once. Later
// messages leave it alone, so that they do not undo changes that code made.
#pragma once

#include <string>
#include <vector>

#include "interpreter/types.h"
#include "workspace/keep.h"

namespace sk::interpreter {

struct Attachment {
  Id version;      // of any workspace that the authority's actor may read
  std::string as;  // path below the session's folder
};

struct Attached {
  Id version;
  std::string path;  // in the workspace; empty when the file is not there
  Sentence problem;  // why the file is not there, for people; empty when the session's code deleted it
};

// Any thread. Create one where it is needed.
class Attachments {
 public:
  explicit Attachments(workspace::Keep& keep) : keep_(keep) {}

  // Returns one result per request, in order. A version in the session's own folder needs no copy, unless
  // code deleted its file since. A file with other bytes under the same name gets a new version, unless the
  // bytes are one of its earlier versions: code has changed them since. Of two different files with the same
  // name in one call, the second becomes "name (2)". Error(bad_request) for a path that no workspace accepts.
  // Error(forbidden) unless the authority may write to the session's folder.
  std::vector<Attached> attach(const workspace::Authority& authority, const SessionInfo& session,
                               const std::vector<Attachment>& wanted);

 private:
  workspace::Keep& keep_;
};

}  // namespace sk::interpreter
