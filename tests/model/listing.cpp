#include "model/judge.h"

namespace sk::model {

Listing listing_of(const Json& answer, const std::string& folder) {
  Listing listing;
  std::string prefix = folder.empty() ? "" : folder + "/";
  for (const auto& item : answer.at("entries")) {
    std::string path = item.at(0);
    Entry entry{item.at(1).get<std::string>()[0], item.at(2), item.at(3), item.at(4), item.at(5), item.at(6)};
    if (entry.kind == 'd') entry.hash.clear();
    if (path.starts_with(prefix))
      listing.folder.emplace(path.substr(prefix.size()), entry);
    else if (!prefix.starts_with(path + "/"))
      listing.others.emplace(path, entry);
  }
  for (const auto& item : answer.at("trash")) {
    std::string path = item.at(0);
    std::string place = path == folder             ? ""
                        : path.starts_with(prefix) ? path.substr(prefix.size())
                                                   : "/" + path;
    listing.trash.emplace(item.at(2), std::pair(place, item.at(1).get<std::string>()[0]));
  }
  return listing;
}

std::optional<Entry> Listing::file_at(const std::string& path) const {
  auto found = folder.find(path);
  if (found == folder.end() || found->second.kind != 'f') return std::nullopt;
  return found->second;
}

bool tells_of_refused(const Json& answer) {
  auto some = [&](const char* list) { return answer.contains(list) && !answer.at(list).empty(); };
  return some("not_kept") || some("only_copies") || !answer.value("all_kept", true);
}

std::vector<std::string> files_of(const Listing& listing) {
  std::vector<std::string> files;
  for (const Folder* folder : {&listing.folder, &listing.others})  // one may have been restored beside it
    for (const auto& [path, entry] : *folder)
      if (entry.kind == 'f') files.push_back(entry.file);
  for (const auto& [file, place] : listing.trash)
    if (place.second == 'f') files.push_back(file);
  return files;
}

}  // namespace sk::model
