// Keeps a few contents in a local store, for the fault loop: what it prints as kept must be there afterwards,
// whatever went wrong.
//
//   blob_keeper DIRECTORY   →  "begun" when the store is open, then per content
//                              "file LOCATION SIZE" for each of its files, and "kept", once it may be
//                              acknowledged; or "failed CODE"
#include <cstdio>
#include <random>
#include <string>
#include <vector>

#include "base/error.h"
#include "blobs/store.h"

namespace {

class NothingKnown final : public sk::blobs::KnownBlobs {
 public:
  bool pin(const sk::Sha256&) override { return false; }
  void unpin(const sk::Sha256&) override {}
};

void print_file(const sk::blobs::Blob& blob) {
  if (blob.kind == sk::blobs::Kind::file)
    std::printf("file %s %llu\n", blob.location.c_str(), static_cast<unsigned long long>(blob.size));
}

void keep(sk::blobs::Store& store, size_t size) {
  NothingKnown known;
  std::mt19937_64 random(size);
  std::vector<uint64_t> words(size / sizeof(uint64_t));
  for (auto& word : words) word = random();
  try {
    auto writer = store.begin_write(known);
    writer->write(std::as_bytes(std::span(words)));
    auto written = writer->finish();
    print_file(written.root());
    for (const auto& piece : written.pieces()) print_file(piece);
    written.commit();
    std::puts("kept");
  } catch (const sk::Error& error) {
    std::printf("failed %s\n", std::string(sk::info(error.code()).name).c_str());
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  std::setvbuf(stdout, nullptr, _IOLBF, 1 << 16);
  try {
    const auto store = sk::blobs::open_local_store(argv[1]);
    std::puts("begun");
    for (size_t size : {size_t{200} << 10, size_t{6} << 20, size_t{10} << 10, size_t{300} << 10})
      keep(*store, size);
  } catch (const sk::Error& error) {
    std::printf("failed %s\n", std::string(sk::info(error.code()).name).c_str());
    return 1;
  }
  return 0;
}
