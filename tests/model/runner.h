// Runs histories, one after the other, with one keeper and a few writers.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "model/disk.h"
#include "model/judge.h"
#include "model/keeper.h"
#include "model/step.h"
#include "model/writers.h"

namespace sk::model {

// What the histories of one lane share.
class Lane {
 public:
  // `disk` may be null: then there is no power to cut. `traces`: says what there is after each step.
  Lane(std::string directory, std::unique_ptr<Disk> disk, bool traces = false);

  // Throws Broken.
  void run(const History& history);
  // After a failure: a keeper and writers that nobody knows anything bad of.
  void begin_anew();
  // All versions that were ever answered, or some of them; and whatever `verify` finds.
  void check_everything();
  bool has_disk() const { return disk_ != nullptr; }

 private:
  friend class Runner;
  // Which limits a history meets, by its seed: those of the keeper cannot change while it runs.
  KeeperOptions options_for(uint64_t seed) const;
  std::string directory_;
  std::unique_ptr<Disk> disk_;
  const bool traces_;
  std::unique_ptr<Writers> writers_;
  Keeper keeper_;
  KeeperOptions started_with_;
  uint64_t boot_ = 1, histories_ = 0;
  std::vector<std::pair<std::string, std::string>> acknowledged_;  // version, hash; of earlier histories
};

}  // namespace sk::model
