// The name of a blob's file below a local store: "<place>/<sha256>-<8 random characters>". The hash lets
// anybody check a file with sha256sum; the random end makes the name unique, so that a name that was removed
// never comes back with other bytes or another age.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/hash.h"

namespace sk::blobs {

// The directories of a store: "0" … "f". Few, because a content's directory is synced with it and an empty
// store is made quickly; enough, because file systems of our time are at ease with a million names in one.
constexpr size_t kPlaces = 16;
std::string place_name(size_t place);
std::string random_place();
// "<sha256>-<8 random characters>".
std::string unique_file_name(const Sha256& hash);

bool is_file_name(std::string_view text);
bool is_location(std::string_view text);

// What tells one file from all others in little memory: the beginning of its hash, and its random end.
struct FileKey {
  uint64_t hash_start;
  uint64_t unique;
  bool operator==(const FileKey&) const = default;
};
struct FileKeyHash {
  size_t operator()(const FileKey& key) const noexcept {
    return key.hash_start ^ key.unique * 0x9e3779b97f4a7c15;
  }
};
// `location` is one.
FileKey file_key(std::string_view location);
// The hash that the location carries in its name.
Sha256 hash_in(std::string_view location);

}  // namespace sk::blobs
