// Writes transactions to a catalog, for the fault loop: each one that it prints as kept must be there
// afterwards, whole, whatever went wrong.
//
//   catalog_keeper DIRECTORY COUNT   →  "begun" when the catalog is open, then per transaction "kept NUMBER"
//                                       once it is acknowledged, or "failed NUMBER CODE"
//
// Transaction NUMBER inserts the rows NUMBER/0, NUMBER/1, … and deletes those of NUMBER - 3. The cache is
// small, so that large transactions spill into the log, and the log is moved and restarted every few
// transactions.
#include <cstdio>
#include <string>

#include "base/error.h"
#include "base/hash.h"
#include "catalog/database.h"
#include "fault/catalog_rows.h"

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  std::setvbuf(stdout, nullptr, _IOLBF, 1 << 16);
  const int count = std::stoi(argv[2]);
  try {
    auto db = sk::catalog::open_sqlite(std::string(argv[1]) + "/catalog.db",
                                       {.cache_bytes = 160 << 10,
                                        .background_pages = 30,
                                        .front_pages = 100,
                                        .move_interval = std::chrono::milliseconds(1)});
    std::puts("begun");
    for (int number = 0; number < count; ++number) {
      try {
        db->write(sk::catalog::Scope::shared(),
                  [&](sk::catalog::Tx& tx) { sk::catalog::test::run_transaction(tx, number); });
        std::printf("kept %d\n", number);
      } catch (const sk::Error& error) {
        std::printf("failed %d %s\n", number, std::string(sk::info(error.code()).name).c_str());
      }
    }
  } catch (const sk::Error& error) {
    std::printf("not begun: %s\n", std::string(sk::info(error.code()).name).c_str());
    return 1;
  }
  return 0;
}
