#include "interpreter/run/output_files.h"

#include <algorithm>
#include <span>

#include "base/error.h"
#include "base/fd.h"

namespace sk::interpreter {

namespace {

constexpr std::string_view kOutputsFolder = "outputs";
constexpr int kAttemptsMax = 10'000;

// The first of "stem", "stem-2", "stem-3" that is free; the last attempt even if it is taken.
std::string first_free(const std::string& stem, const std::string& extension,
                       const std::function<bool(const std::string& path)>& is_taken) {
  for (int count = 1;; ++count) {
    std::string path = stem;
    if (count > 1) path.append("-").append(std::to_string(count));
    path.append(extension);
    if (count == kAttemptsMax || !is_taken(path)) return path;
  }
}

Occupied look_at(const std::string& path, CopyKeeper& keeper, workspace::Keep& keep,
                 const workspace::Authority& authority) {
  auto here = keeper.copy().look(path);
  auto there = keep.files().find(authority, keeper.paths().workspace_path(path));
  if (!here && !there) return Occupied::no;
  bool other =
      (here && here->kind != NodeKind::folder) || (there && there->kind != workspace::EntryKind::folder);
  return other ? Occupied::by_other : Occupied::by_folder;
}

void give_content(const OutputFile& file, const CopyKeeper::Pieces& take) {
  if (!file.spilled) return take(as_bytes(file.bytes));
  std::vector<std::byte> buffer(std::min<uint64_t>(file.size, 1 << 20));
  for (uint64_t done = 0; done < file.size;) {
    auto part = std::span(buffer).first(std::min<uint64_t>(file.size - done, buffer.size()));
    size_t got = read_at(file.spilled->get(), part, file.offset + done, file.name);
    if (got == 0) throw Error(Code::internal, "the spilled output " + file.name + " is too short");
    take(Bytes(part).first(got));
    done += got;
  }
}

}  // namespace

std::string free_output_path(const std::string& name,
                             const std::function<Occupied(const std::string& path)>& look) {
  std::string folder = first_free(std::string(kOutputsFolder), "",
                                  [&](const std::string& path) { return look(path) == Occupied::by_other; });
  size_t dot = name.rfind('.');
  return first_free(folder + "/" + name.substr(0, dot), name.substr(dot),
                    [&](const std::string& path) { return look(path) != Occupied::no; });
}

std::vector<NotKept> place_output_files(OutputCollector& outputs, CopyKeeper& keeper, workspace::Keep& keep,
                                        const workspace::Authority& authority) {
  std::vector<NotKept> failed;
  for (auto& file : outputs.take_files()) {
    const std::string meant = std::string(kOutputsFolder) + "/" + file.name;
    std::string path = meant;
    try {
      path = free_output_path(
          file.name, [&](const std::string& where) { return look_at(where, keeper, keep, authority); });
      keeper.place(path, [&](const CopyKeeper::Pieces& take) { give_content(file, take); });
    } catch (const Error& error) {
      failed.push_back({keeper.paths().named(path), UnkeptReason::conflict, error.sentence(), false});
      continue;
    }
    auto named = [&](const std::string& where) { return quoted_path(keeper.paths().workspace_path(where)); };
    if (file.is_text && path != meant)
      outputs.note(named(meant) + " exists already, so it is " + named(path) + ".");
    if (file.output_index < 0) continue;
    if (auto* bundle = bundle_of(outputs.outputs()[static_cast<size_t>(file.output_index)]))
      bundle->file = keeper.paths().workspace_path(path);
  }
  return failed;
}

}  // namespace sk::interpreter
