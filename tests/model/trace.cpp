#include "model/trace.h"

namespace sk::model {

std::string said(Json answer) {
  constexpr size_t kMax = 2'000;
  if (!answer.is_object()) return "nothing";
  answer.erase("entries");
  answer.erase("trash");
  return answer.dump().substr(0, kMax);
}

std::string describe(const Step& step, const Tree& copy, const Listing& workspace, Json answer) {
  std::string text = to_text(step) + "\n";
  for (const auto& [path, thing] : copy)
    text += "    copy " + path + " " + thing.kind + " " + thing.hash.substr(0, 8) + " inode " +
            std::to_string(thing.identity.inode) + "\n";
  for (const auto& [path, entry] : workspace.folder)
    text += "    workspace " + path + " " + entry.kind + " " + entry.hash.substr(0, 8) + " file " +
            entry.file.substr(20) + "\n";
  for (const auto& [file, place] : workspace.trash)
    text += "    trash " + place.first + " file " + file.substr(20) + "\n";
  if (answer.is_object() && !answer.empty()) text += "    answer " + said(std::move(answer)) + "\n";
  return text;
}

}  // namespace sk::model
