// One run of `verify`, step by step; private to this room.
#pragma once

#include "workspace/upkeep.h"

namespace sk::workspace {

class VerifyRun {
 public:
  VerifyRun(Ground& ground, const std::function<bool(const VerifyResult&)>& progress)
      : ground_(ground), progress_(progress) {}
  void blobs();       // every blob's bytes match its hash; every list's pieces exist and add up
  void references();  // every version's blob, every file's head and parent folder exist
  void counts();      // reference counts, used bytes and version numbers are what the rows say
  void journals();    // every chain holds
  const VerifyResult& result() const { return result_; }

 private:
  void problem(std::string text);
  void tell_progress();

  Ground& ground_;
  const std::function<bool(const VerifyResult&)>& progress_;
  VerifyResult result_;
};

}  // namespace sk::workspace
