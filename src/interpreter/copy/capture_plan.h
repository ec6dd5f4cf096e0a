// One settling of a capture, step by step; private to capture.cpp and capture_placed.cpp, which plan it, and
// capture_apply.cpp, which carries it out.
#pragma once

#include "interpreter/copy/capture.h"

namespace sk::interpreter {

inline bool is_below(const std::string& path, const std::string& folder) {
  return path.size() > folder.size() && path.starts_with(folder) && path[folder.size()] == '/';
}

// One settling, step by step: what may have changed, what did, and the changes that follow from it.
struct Capture::Plan {
  enum class What { folder, file, time, rename, trash };
  struct Step {
    What what;
    std::string path;  // on disk; the new one for renames
    std::string from;  // renames
    Node node;
    workspace::Change change;
    bool was_known = false;
    bool only_completes = false;  // the bytes are kept already, as those of a file that was being written
  };

  const std::set<std::pair<uint64_t, uint64_t>>& open_files;
  const CaptureAs& as;
  std::map<std::string, std::optional<Node>> candidates = {};  // by path; nullopt: not there
  std::map<std::string, PlacedFile> placed = {};  // by path; those that are as the server placed them
  std::map<std::pair<uint64_t, uint64_t>, std::string> folders_by_inode = {};  // of the candidates
  std::vector<std::string> gone = {};
  std::set<std::string> moving = {};    // names of files that are being renamed at this moment
  std::set<std::string> replaced = {};  // of them, those where something of another kind is now
  std::vector<std::pair<std::string, Node>> changed = {};
  std::vector<Step> steps = {};
  Settled settled = {};
  TimeUs now_us = 0;
  std::optional<std::optional<uint64_t>> room = {};  // that the quota leaves; asked for once
};

}  // namespace sk::interpreter
