#include "model/runner.h"

namespace sk::model {

Lane::Lane(std::string directory, std::unique_ptr<Disk> disk, bool traces)
    : directory_(std::move(directory)),
      disk_(std::move(disk)),
      traces_(traces),
      writers_(std::make_unique<Writers>(3)) {}

KeeperOptions Lane::options_for(uint64_t seed) const {
  constexpr uint64_t kSameLimits = 50;  // histories in a row, since another keeper has to be started
  KeeperOptions options{directory_, "boot " + std::to_string(boot_)};
  switch (seed / kSameLimits % 5) {
    case 1:
      options.folders_max = 3;
      break;
    case 2:
      options.strict_writes = true;
      break;
    case 3:
      options.watches_max = 4;
      break;
    default:
      break;
  }
  return options;
}

void Lane::begin_anew() {
  keeper_.kill();
  writers_ = std::make_unique<Writers>(3);
  if (disk_) disk_->make_room();
}

void Lane::check_everything() {
  if (!keeper_.is_alive()) keeper_.start(options_for(0));
  check_versions(keeper_, acknowledged_);
  auto answer = keeper_.order({{"do", "verify"}});
  if (!answer || answer->contains("error") || !answer->at("problems").empty())
    throw Broken("verify found: " + (answer ? answer->dump().substr(0, 2000) : ""));
}

}  // namespace sk::model
