// The transactions of catalog_keeper, which the test that runs it checks.
#pragma once

#include <string>

#include "base/hash.h"
#include "catalog/database.h"

namespace sk::catalog::test {

// Every fourth transaction is larger than the cache.
inline int rows_of(int transaction) { return transaction % 4 == 3 ? 60 : 1 + transaction % 3; }

inline std::string row_name(int transaction, int row) {
  return std::to_string(transaction) + "/" + std::to_string(row);
}

inline std::string row_bytes(int transaction, int row) {
  std::string out;
  while (out.size() < 3'000) out += row_name(transaction, row) + " ";
  return out;
}

inline void run_transaction(Tx& tx, int transaction) {
  for (int row = 0; row < rows_of(transaction); ++row) {
    const std::string name = row_name(transaction, row), bytes = row_bytes(transaction, row);
    tx.exec("INSERT INTO thumbnails (sha256, mime, bytes, made_us) VALUES ($1, $2, $3, $4)",
            {sha256(name), name, Param::raw(bytes), transaction});
  }
  tx.exec("DELETE FROM thumbnails WHERE made_us = $1", {transaction - 3});
}

}  // namespace sk::catalog::test
