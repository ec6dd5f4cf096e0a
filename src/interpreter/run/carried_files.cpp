#include "interpreter/run/carried_files.h"

namespace sk::interpreter {

namespace {

constexpr size_t kNamedBetweenCellsMax = 1'000;

}  // namespace

void KeptBetweenCells::add(Settled settled) {
  settled_.append(std::move(settled));
  settled_.bound();
  left_out_ += std::exchange(settled_.left_out, 0);
  if (settled_.kept.size() <= kNamedBetweenCellsMax) return;
  left_out_ += settled_.kept.size() - kNamedBetweenCellsMax;
  settled_.kept.resize(kNamedBetweenCellsMax);
}

RecoveredFiles untold_recovered_files(Records& records, workspace::Keep& keep,
                                      const workspace::Authority& authority, const Id& session) {
  RecoveredFiles found;
  for (const auto& item : records.untold(session)) {
    found.any = true;
    auto version = keep.files().find_version(authority, item.version);
    if (!version) continue;
    KeptFile file;
    file.path = item.path;
    file.file = version->file;
    file.version = version->id;
    file.size = version->size;
    file.sha256 = version->sha256;
    file.mime = version->mime;
    file.change = KeptChange::recovered;
    file.complete = version->complete;
    Settled one;
    one.kept.push_back(std::move(file));
    found.settled.append(std::move(one));
  }
  return found;
}

}  // namespace sk::interpreter
