// Hashes a journal entry; shared by the journal, the audit export and its offline verification.
// STORAGE_FORMAT.md defines the format.
#pragma once

#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/hash.h"
#include "base/id.h"

namespace sk::workspace {

struct JournalLine {
  Sha256 previous;
  Id workspace;
  int64_t seq = 0;
  TimeUs time_us = 0;
  std::string_view kind;
  Id actor;
  std::string facts;  // compact JSON, as stored
  Sha256 commitment;
};

inline Sha256 commit_to(std::string_view salt, std::string_view personal) {
  return sha256(std::string(salt) + std::string(personal));
}

inline Sha256 hash_line(const JournalLine& line) {
  std::string text = "sandkeep-journal-1\n" + line.previous.hex() + "\n" + line.workspace.hex() + "\n" +
                     std::to_string(line.seq) + "\n" + std::to_string(line.time_us) + "\n" +
                     std::string(line.kind) + "\n" + line.actor.hex() + "\n" + line.facts + "\n" +
                     line.commitment.hex() + "\n";
  return sha256(text);
}

// A checkpoint lists the heads of the journals that grew since the previous checkpoint. Each is a hashed
// leaf, which reveals nothing to readers who do not know that head.
inline Sha256 hash_leaf(const Id& workspace, int64_t seq, const Sha256& head) {
  return sha256("sandkeep-head-1\n" + workspace.hex() + "\n" + std::to_string(seq) + "\n" + head.hex() +
                "\n");
}

// The text that is signed. `leaves` are hashes in hex, joined by ','.
inline std::string checkpoint_text(int64_t number, TimeUs time_us, const Sha256& previous,
                                   std::string_view leaves) {
  return "sandkeep-checkpoint-1\n" + std::to_string(number) + "\n" + std::to_string(time_us) + "\n" +
         previous.hex() + "\n" + std::string(leaves) + "\n";
}

}  // namespace sk::workspace
