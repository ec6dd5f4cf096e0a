// The plan of one settle(). Private to capture.cpp, capture_placed.cpp and capture_deletions.cpp, which
// create it, and capture_apply.cpp, which applies it.
#pragma once

#include "interpreter/copy/capture.h"

namespace sk::interpreter {

inline bool is_below(const std::string& path, const std::string& folder) {
  return path.size() > folder.size() && path.starts_with(folder) && path[folder.size()] == '/';
}

// One settle(), step by step: paths that may have changed, paths that did, and the resulting changes.
struct Capture::Plan {
  enum class What { folder, file, time, rename, trash };
  struct Step {
    What what;
    std::string path;  // on disk; the new path of a rename
    std::string from;  // the old path of a rename
    Node node;
    workspace::Change change;
    bool was_known = false;
    size_t entries = 1;           // changed in the workspace, as Manifest::count_below() counts
    bool only_completes = false;  // the bytes are already kept, from the time when the file was being written
  };

  const std::set<std::pair<uint64_t, uint64_t>>& open_files;
  const CaptureAs& as;
  How how;
  std::map<std::string, std::optional<Node>> candidates = {};  // by path; nullopt: does not exist
  std::map<std::string, PlacedFile> placed = {};  // by path; those that are as the server placed them
  std::set<std::string> diverged = {};            // placed files that overtook another client's version
  std::map<std::pair<uint64_t, uint64_t>, std::string> folders_by_inode = {};  // of candidates
  std::vector<std::string> gone = {};                                          // in order
  std::set<std::string> moving = {};    // names of files that are being renamed right now
  std::set<std::string> replaced = {};  // gone paths that now hold something of another kind
  std::vector<std::pair<std::string, Node>> changed = {};
  std::vector<Step> steps = {};
  uint64_t names_bytes = 0;    // memory of the candidates and of rows for new files
  uint64_t claimed_bytes = 0;  // of names_bytes, from the budget
  bool compares_all = false;
  bool has_forgotten_refused = false;  // those of before, to make room
  bool has_new_marks = false;          // a folder took the place of another; its row has new marks
  Settled settled = {};
  TimeUs now_us = 0;
  std::optional<std::optional<uint64_t>> room = {};  // free bytes of the quota; fetched once
};

}  // namespace sk::interpreter
