// Whether locks and fences let a write pass; private to this room.
#pragma once

#include "catalog/database.h"
#include "workspace/types.h"

namespace sk::workspace {

// What a write touches besides the entry itself; decides which locks stand in its way.
enum class Touches {
  content,     // the entry's bytes or attributes
  membership,  // it comes into or leaves its folder
  subtree,     // that, and everything below it. Whatever lands on a path touches it all: a folder brings what
               // is in it, and below a file nothing else can be
};

// Locks of the workspace that have not run out, with `token_hash` in Lock::token as raw bytes.
std::vector<Lock> live_locks(catalog::Statements& statements, const Id& workspace, TimeUs now_us);

// The locks of a workspace as one transaction sees them. They are read once, however many changes ask.
class LockCheck {
 public:
  LockCheck(catalog::Statements& statements, const Id& workspace, TimeUs now_us)
      : statements_(statements), workspace_(workspace), now_us_(now_us) {}

  // Error(locked) unless every lock in the way is opened by a token; Error(precondition_failed) for a token
  // or fence that is stale.
  void check(std::string_view path, Touches touches, const Conditions& conditions);

 private:
  catalog::Statements& statements_;
  const Id workspace_;
  const TimeUs now_us_;
  std::optional<std::vector<Lock>> live_;
};

// What was locked keeps its fences where it goes: those of `from`, of what is below it, and of the folders
// above that covered it, now also hold for `to`. They stay behind, too, since the old path was locked as
// well.
void carry_fences(catalog::Tx& tx, const Id& workspace, std::string_view from, std::string_view to);

// 423 with who holds it, until when and what for.
[[noreturn]] void throw_locked(const Lock& lock);

}  // namespace sk::workspace
