// Files that an answer reports although its own cell did not write them: kept between cells, or recovered
// after a power cut.
#pragma once

#include <string>

#include "interpreter/records.h"
#include "interpreter/types.h"
#include "workspace/keep.h"

namespace sk::interpreter {

// Changes that were kept between cells; the next answer reports them. Bounded: lists and events have all of
// it, and the answer says how many it leaves out. One thread at a time.
class KeptBetweenCells {
 public:
  void add(Settled settled);
  // Returns what was kept, and forgets it.
  Settled take() { return std::exchange(settled_, {}); }
  // Returns how many changes take() left out, and forgets the number.
  size_t take_left_out() { return std::exchange(left_out_, 0); }
  void clear() { *this = {}; }

 private:
  Settled settled_;
  size_t left_out_ = 0;
};

// The recovered files that no answer has reported yet.
struct RecoveredFiles {
  Settled settled;
  bool any = false;  // also true if all of them were purged since
};
RecoveredFiles untold_recovered_files(Records& records, workspace::Keep& keep,
                                      const workspace::Authority& authority, const Id& session);

}  // namespace sk::interpreter
