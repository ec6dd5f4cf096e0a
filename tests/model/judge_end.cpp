// What the judge knows after a power cut, and at the end.
#include "model/compare.h"

namespace sk::model {

void Judge::power_was_cut(const Listing& answered, const Listing& is, bool in_the_middle) {
  was_cut_ = true;
  check_bytes(is);
  if (in_the_middle) return;
  for (const auto& [path, entry] : answered.folder)
    if (!same(find(is.folder, path), &entry))
      throw Broken("after the power cut '" + path + "' is " + say(find(is.folder, path)) +
                   " and was answered as " + say(&entry));
  for (const auto& [path, entry] : is.folder)
    if (!answered.folder.contains(path)) throw Broken("after the power cut '" + path + "' is there");
}

void Judge::recovered(const Tree& after, const Listing& was, const Listing& is, bool clean) {
  for (const auto& [path, entry] : was.folder) {
    const Entry* now = find(is.folder, path);
    if (now == nullptr || now->hash != entry.hash || now->file != entry.file || now->version != entry.version)
      throw Broken("a copy from before the power cut changed '" + path + "' from " + say(&entry) + " to " +
                   say(now));
  }
  for (const auto& [path, entry] : is.folder) {
    if (clean && !was.folder.contains(path))
      throw Broken("'" + path + "' came out of a copy that was closed");
    if (!is_image(&entry, find(after, path)))
      throw Broken("after the power cut the copy has " + say(find(after, path)) + " at '" + path +
                   "', the workspace " + say(&entry));
    written_.insert(entry.hash);
  }
  for (const auto& [path, thing] : after)
    if (!clean && thing.kind == 'f' && !is.folder.contains(path))
      throw Broken("after the power cut the copy has '" + path + "', the workspace has not");
  // A new file below a locked path waits in the trash; what was in the folder is still there, as checked
  // above.
  for (const auto& [file, place] : is.trash)
    if (!locked_ && !was.trash.contains(file))
      throw Broken("a copy from before the power cut trashed '" + place.first + "'");
  known_ = after;
  between_.clear();
  brought_.clear();
  blind_ = false;
  base_ = is;
  outside_.clear();
  pending_.clear();
  muddled_.clear();
  told_.clear();
  aside_.clear();
  undeleted_.clear();
  named_.clear();
}

void Judge::check_removed(const Listing& was, const Listing& is) {
  for (const auto& [path, entry] : was.folder)
    if (!same(find(is.folder, path), &entry)) throw Broken("removing a session changed '" + path + "'");
}

void Judge::check_history(const Json& versions, bool partly) const {
  std::set<std::string> hashes;
  for (const auto& version : versions) {
    std::string hash = version.at("hash");
    hashes.insert(hash);
    bool exempt = raced_.contains(version.at("version")) || !version.at("complete").get<bool>() ||
                  version.at("source") == "recovery" || version.at("detail").contains("recovered");
    if (!exempt && !written_.contains(hash))
      throw Broken("a version holds bytes that nobody wrote: " + version.dump());
  }
  if (partly) return;
  for (const auto& hash : must_keep_)
    if (!hashes.contains(hash)) throw Broken("bytes that code wrote are in no version: " + hash);
}

}  // namespace sk::model
