// What the judge compares: directory and workspace, at one path. Private to judge*.cpp.
#pragma once

#include "model/judge.h"

namespace sk::model {

template <class Map, class Key>
auto* find(Map& map, const Key& key) {
  auto found = map.find(key);
  return found == map.end() ? nullptr : &found->second;
}

inline std::string name_of(const std::string& path) {
  auto slash = path.rfind('/');
  return slash == std::string::npos ? path : path.substr(slash + 1);
}

inline std::string say(const Thing* thing) {
  if (thing == nullptr) return "nothing";
  char mode[8];
  std::snprintf(mode, sizeof mode, "%03o", thing->mode);
  return std::string(1, thing->kind) + " " + thing->hash.substr(0, 8) + " " + mode + " " +
         std::to_string(thing->size) + " bytes, inode " + std::to_string(thing->identity.inode);
}

inline std::string say(const Entry* entry) {
  if (entry == nullptr) return "nothing";
  char mode[8];
  std::snprintf(mode, sizeof mode, "%03o", entry->mode);
  return std::string(1, entry->kind) + " " + entry->hash.substr(0, 8) + " " + mode + " file " +
         entry->file.substr(20) + (entry->diverged ? " diverged" : "");
}

// What the workspace should have where the directory has that.
inline bool is_image(const Entry* entry, const Thing* thing) {
  bool kept = thing != nullptr && (thing->kind == 'f' || thing->kind == 'd');
  if (!kept || entry == nullptr) return !kept && entry == nullptr;
  return entry->same_as(*thing);
}

inline bool same(const Thing* one, const Thing* other) {
  if (one == nullptr || other == nullptr) return one == other;
  return one->same_as(*other);
}

inline bool same(const Entry* one, const Entry* other) {
  if (one == nullptr || other == nullptr) return one == other;
  return one->same_as(*other);
}

template <class Other>
bool same_but_mode(const Other* one, const Thing* thing) {
  return one != nullptr && thing != nullptr && one->kind == thing->kind && one->hash == thing->hash;
}

inline bool changed(const Thing* known, const Thing* now) {
  return !same(known, now) || (now != nullptr && now->identity != known->identity);
}

// Whether code wrote the same bytes into the file again. A time that code set is no write.
inline bool rewritten(const Thing* known, const Thing* now) {
  return known != nullptr && now != nullptr && now->kind == 'f' && !changed(known, now) &&
         now->mtime_ns > known->ctime_ns && now->mtime_ns <= now->ctime_ns;
}

}  // namespace sk::model
