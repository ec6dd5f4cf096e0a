// Name of a blob's file in a local store: "<place>/<sha256>-<8 random characters>". The hash allows anyone to
// check a file with sha256sum. The random suffix makes names unique, so a removed name never reappears with
// other bytes or another age. Pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/hash.h"

namespace sk::blobs {

// Directories of a store: "0" … "f". Few, because each write syncs its directory, and an empty store is then
// quick to create. Enough, because file systems handle a million names per directory well.
constexpr size_t kPlaces = 16;
std::string place_name(size_t place);
std::string random_place();
// Returns "<sha256>-<8 random characters>".
std::string unique_file_name(const Sha256& hash);

bool is_file_name(std::string_view text);
bool is_location(std::string_view text);

// Compact identity of a file: the start of its hash and its random suffix.
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
// Requires a valid `location`.
FileKey file_key(std::string_view location);
// Returns the hash contained in the location.
Sha256 hash_in(std::string_view location);

}  // namespace sk::blobs
