// Keeps a few contents in a local store, for the fault loop: what it prints as kept must be there afterwards,
// whatever went wrong.
//
//   blob_keeper DIRECTORY [compress]
//                           →  "begun" when the store is open, then per content
//                              "file LOCATION SIZE" for each of its files, and "kept", once it may be
//                              acknowledged; or "failed CODE"
#include <cstdio>
#include <random>
#include <string>
#include <vector>

#include "base/error.h"
#include "blobs/store.h"

// Of the fault library, when it is loaded and records.
extern "C" void fault_mark(const char* text) __attribute__((weak));

namespace {

// Where a server would answer: what was done before is durable.
void acknowledge(const char* text) {
  if (fault_mark != nullptr) fault_mark(text);
  std::puts(text);
}

class NothingKnown final : public sk::blobs::KnownBlobs {
 public:
  bool pin(const sk::Sha256&) override { return false; }
  void unpin(const sk::Sha256&) override {}
};

void print_file(const sk::blobs::Blob& blob) {
  if (blob.kind == sk::blobs::Kind::file)
    std::printf("file %s %llu\n", blob.location.c_str(), static_cast<unsigned long long>(blob.size));
}

std::string random_content(size_t size) {
  std::mt19937_64 random(size);
  std::string out;
  while (out.size() < size) {
    const uint64_t word = random();
    out.append(reinterpret_cast<const char*>(&word), sizeof word);
  }
  return out;
}

std::string compressible_content(size_t size) {
  std::string out;
  for (int row = 0; out.size() < size; ++row) out += "row " + std::to_string(row) + "\n";
  return out;
}

// Says how it went and goes on, as a server does.
template <class Act>
bool attempt(const Act& act) {
  try {
    act();
    return true;
  } catch (const sk::Error& error) {
    std::printf("failed %s\n", std::string(sk::info(error.code()).name).c_str());
    return false;
  }
}

void keep(sk::blobs::Store& store, const std::string& content) {
  NothingKnown known;
  attempt([&] {
    auto writer = store.begin_write(known);
    writer->write(sk::as_bytes(content));
    auto written = writer->finish();
    print_file(written.root());
    for (const auto& piece : written.pieces()) print_file(piece);
    written.commit();
    acknowledge("kept");
  });
}

void keep_several(sk::blobs::Store& store) {
  for (size_t size : {size_t{200} << 10, size_t{6} << 20, size_t{10} << 10, size_t{300} << 10})
    keep(store, random_content(size));
}

void keep_and_compress(sk::blobs::Store& store) {
  keep(store, compressible_content(300 << 10));
  keep(store, compressible_content(170 << 10));
  attempt([&] {
    const auto done = store.compress(0, [] { return true; });
    acknowledge(("compressed " + std::to_string(done.files_compressed)).c_str());
  });
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  std::setvbuf(stdout, nullptr, _IOLBF, 1 << 16);
  const bool opened = attempt([&] {
    const auto store = sk::blobs::open_local_store(argv[1]);
    std::puts("begun");
    if (argc > 2)
      keep_and_compress(*store);
    else
      keep_several(*store);
  });
  return opened ? 0 : 1;
}
