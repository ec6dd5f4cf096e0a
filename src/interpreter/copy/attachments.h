// Files from elsewhere that a chat app sends along with every message: put into a session's folder once, and
// left alone from then on, so that what code made of them is not undone by the next message.
#pragma once

#include <string>
#include <vector>

#include "interpreter/types.h"
#include "workspace/keep.h"

namespace sk::interpreter {

struct Attachment {
  Id version;      // of any workspace that the authority's actor may read
  std::string as;  // its path below the session's folder
};

struct Attached {
  Id version;
  std::string path;  // in the workspace; empty where it is not
  std::string
      problem;  // why it could not be put there, for people; empty where code of the session deleted it
};

// Any thread; made where it is needed.
class Attachments {
 public:
  explicit Attachments(workspace::Keep& keep) : keep_(keep) {}

  // One answer per wish, in order. A version of the session's own folder is there already, unless code
  // deleted its file since. A name that holds
  // other bytes gets them as a new version, unless these bytes are an earlier version of it: then code has
  // changed them since. Two different files of one name in one call are both put there, the second under
  // "name (2)". Error(bad_request) for a path that no workspace takes. Error(forbidden) unless the authority
  // may write to the session's folder.
  std::vector<Attached> attach(const workspace::Authority& authority, const SessionInfo& session,
                               const std::vector<Attachment>& wanted);

 private:
  workspace::Keep& keep_;
};

}  // namespace sk::interpreter
