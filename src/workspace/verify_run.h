// One run of `verify`, divided into steps; private to this room.
#pragma once

#include "workspace/upkeep.h"

namespace sk::workspace {

class VerifyRun {
 public:
  VerifyRun(KeepContext& context, const std::function<bool(const VerifyResult&)>& progress)
      : context_(context), progress_(progress) {}
  void blobs();       // each blob matches its hash; each list's pieces exist and add up to its size
  void references();  // each version's blob and each file's head and parent folder exist
  void counts();      // reference counts, used bytes and version numbers match the rows
  void usage();       // the figures of quotas match the rows; corrects those that do not
  void journals();    // each hash chain is valid
  const VerifyResult& result() const { return result_; }

 private:
  void problem(std::string text);
  void tell_progress();

  KeepContext& context_;
  const std::function<bool(const VerifyResult&)>& progress_;
  VerifyResult result_;
};

}  // namespace sk::workspace
