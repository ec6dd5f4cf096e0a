// How fast a blob store takes bytes, beside the least that any program would do with them.
//
//   bench_blob_write upload DIR [MIB]    MIB (1024) of random bytes, durable: through a Writer, and beside it
//   a loop on one thread that
//                                        hashes the same bytes with SHA-256, writes them into one file and
//                                        syncs it
//   bench_blob_write versions DIR        20 versions of a 100 MB CSV, one row changed each: time and disk
//
// DIR is created, and emptied at the end.
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <mutex>
#include <random>
#include <string>
#include <unordered_set>
#include <vector>

#include "base/error.h"
#include "base/fd.h"
#include "base/hash.h"
#include "blobs/store.h"

namespace {

namespace fs = std::filesystem;
using sk::Bytes;

constexpr size_t kWriteBytes = 256 << 10;
constexpr int kRounds = 7;

// What the catalog would know.
class MemoryKnown final : public sk::blobs::KnownBlobs {
 public:
  bool pin(const sk::Sha256& hash) override {
    std::lock_guard lock(mutex_);
    return hashes_.contains(hash);
  }
  void unpin(const sk::Sha256&) override {}
  void record(const sk::blobs::Written& written) {
    std::lock_guard lock(mutex_);
    hashes_.insert(written.root().hash);
    for (const auto& piece : written.pieces()) hashes_.insert(piece.hash);
  }

 private:
  std::mutex mutex_;
  std::unordered_set<sk::Sha256> hashes_;  // guarded by mutex_
};

template <class Act>
double seconds_of(const Act& act) {
  const auto start = std::chrono::steady_clock::now();
  act();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

double cpu_seconds() {
  rusage usage;
  ::getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

template <class Take>
void in_pieces(Bytes bytes, const Take& take) {
  for (; !bytes.empty(); bytes = bytes.subspan(std::min(kWriteBytes, bytes.size())))
    take(bytes.first(std::min(kWriteBytes, bytes.size())));
}

double peer_seconds(const std::string& directory, Bytes bytes) {
  const auto path = directory + "/peer";
  const double seconds = seconds_of([&] {
    sk::Fd fd = sk::open_file(path, O_WRONLY | O_CREAT | O_TRUNC);
    sk::Sha256Stream hash;
    in_pieces(bytes, [&](Bytes piece) {
      hash.update(piece);
      sk::write_all(fd.get(), piece, path);
    });
    sk::fsync_or_die(fd.get(), path);
    if (hash.digest() == sk::Sha256{}) std::puts("");  // the hash is needed
  });
  fs::remove(path);
  return seconds;
}

double store_seconds(sk::blobs::Store& store, Bytes bytes) {
  MemoryKnown known;
  sk::blobs::Written written;
  return seconds_of([&] {
    auto writer = store.begin_write(known);
    in_pieces(bytes, [&](Bytes piece) { writer->write(piece); });
    written = writer->finish();
  });
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

void upload(const std::string& directory, size_t mebibytes) {
  std::vector<std::byte> bytes(mebibytes << 20);
  sk::fill_random(bytes);
  const auto store = sk::blobs::open_local_store(directory + "/store");
  std::vector<double> peers, ours, ratios;
  double peer_cpu = 0, cpu = 0;
  // In turns, so that whatever else the machine does meets both.
  for (int round = 0; round < kRounds; ++round) {
    ::sync();
    const double cpu_at_start = cpu_seconds();
    peers.push_back(peer_seconds(directory, bytes));
    peer_cpu += cpu_seconds() - cpu_at_start;
    ::sync();
    const double cpu_between = cpu_seconds();
    ours.push_back(store_seconds(*store, bytes));
    cpu += cpu_seconds() - cpu_between;
    ratios.push_back(peers.back() / ours.back());
    std::printf("round %d: peer %.3f s, store %.3f s, ratio %.2f\n", round + 1, peers.back(), ours.back(),
                ratios.back());
  }
  const double megabytes = static_cast<double>(bytes.size()) / 1e6;
  std::printf("one thread, hash, write, sync: %.0f MB/s (%.2f s of CPU)\n", megabytes / median(peers),
              peer_cpu / kRounds);
  std::printf("store:                         %.0f MB/s (%.2f s of CPU)\n", megabytes / median(ours),
              cpu / kRounds);
  std::printf("ratio:                         %.2f\n", median(ratios));
}

std::string make_csv(size_t bytes, std::vector<size_t>& rows) {
  std::mt19937_64 random(7);
  std::string out;
  out.reserve(bytes + 200);
  char line[200];
  for (int row = 0; out.size() < bytes; ++row) {
    rows.push_back(out.size());
    std::snprintf(line, sizeof line, "%d,customer-%06d,2026-%02d-%02d,%.2f,%s\n", row,
                  static_cast<int>(random() % 1000000), static_cast<int>(random() % 12) + 1,
                  static_cast<int>(random() % 28) + 1, static_cast<double>(random() % 10000000) / 100,
                  random() % 2 ? "paid" : "open");
    out += line;
  }
  return out;
}

uint64_t disk_bytes(sk::blobs::Store& store) {
  uint64_t total = 0;
  store.for_each([&](const std::string&, uint64_t size, int64_t) {
    total += size;
    return true;
  });
  return total;
}

void versions(const std::string& directory) {
  std::vector<size_t> rows;
  std::string csv = make_csv(100'000'000, rows);
  const auto store = sk::blobs::open_local_store(directory + "/store");
  MemoryKnown known;
  std::mt19937_64 random(8);
  std::vector<double> seconds;
  double total = 0;
  for (int version = 0; version < 20; ++version) {
    if (version > 0) csv[rows[random() % rows.size()]] = static_cast<char>('0' + version % 10);
    seconds.push_back(seconds_of([&] {
      auto writer = store->begin_write(known);
      in_pieces(sk::as_bytes(csv), [&](Bytes piece) { writer->write(piece); });
      auto written = writer->finish();
      known.record(written);
      written.commit();
    }));
    total += seconds.back();
  }
  const uint64_t plain = disk_bytes(*store);
  const double compressing = seconds_of([&] { store->compress(0, [] { return true; }); });
  std::printf("first version %.3f s, next ones %.3f s each (median), all 20: %.2f s\n", seconds[0],
              median({seconds.begin() + 1, seconds.end()}), total);
  const auto megabytes = [](uint64_t bytes) { return static_cast<double>(bytes) / 1e6; };
  std::printf("disk for 20 × %.1f MB: %.1f MB; compressed in the background, %.1f s: %.1f MB\n",
              megabytes(csv.size()), megabytes(plain), compressing, megabytes(disk_bytes(*store)));
}

}  // namespace

int main(int argc, char** argv) {
  const std::string mode = argc > 2 ? argv[1] : "";
  if (mode != "upload" && mode != "versions") {
    std::fputs("usage: bench_blob_write upload DIR [MIB] | versions DIR\n", stderr);
    return 2;
  }
  const std::string directory = argv[2];
  fs::create_directories(directory);
  if (mode == "upload")
    upload(directory, argc > 3 ? std::stoul(argv[3]) : 1024);
  else
    versions(directory);
  fs::remove_all(directory + "/store");
  return 0;
}
