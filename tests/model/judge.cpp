#include "model/judge.h"

#include <algorithm>

#include "model/compare.h"

namespace sk::model {

std::string Judge::relative(const std::string& path) const {
  if (folder_.empty()) return path;
  return path.starts_with(folder_ + "/") ? path.substr(folder_.size() + 1)
         : path == folder_               ? ""
                                         : "/" + path;
}

void Judge::code_wrote(const Tree& tree) {
  for (const auto& [path, thing] : tree)
    if (thing.kind == 'f') written_.insert(thing.hash);
}

void Judge::add_outside(const std::string& path) {
  for (std::string at = path; !at.empty(); at = parent_of(at)) outside_.insert(at);
}

void Judge::client_changed(const Listing& before, const Listing& after) {
  for (const auto& [path, entry] : before.folder)
    if (!same(find(after.folder, path), &entry)) add_outside(path);
  for (const auto& [path, entry] : after.folder) {
    if (!same(find(before.folder, path), &entry)) add_outside(path);
    // The new version may have the same bytes. Until the keeper brings it, the copy is based on the old one.
    if (const Entry* old = find(before.folder, path); old != nullptr && old->version != entry.version) {
      add_outside(path);
      rewritten_.insert(path);
    }
  }
  if (between_.empty() && !blind_) base_ = after;
  // What clients did is not the keeper's doing.
  for (const auto& [file, place] : after.trash) base_.trash.insert_or_assign(file, place);
  base_.others = after.others;
}

void Judge::purged(const std::string& version, const std::string& hash) {
  acknowledged_.erase(version);
  must_keep_.erase(hash);
  purged_.insert(hash);
}

void Judge::acknowledge_kept(const Json& answer) {
  if (!answer.contains("kept")) return;
  for (const auto& file : answer.at("kept")) acknowledged_[file.at("version")] = file.at("hash");
}

void Judge::lost_sight(const Tree& tree) {
  between_.push_back(tree);
  muddled_ = outside_;
}

// What stays refused until it is touched is named once.
void Judge::note_lasting(const Json& answer, const Tree& tree) {
  static const std::set<std::string> kLasting{"link", "fifo", "socket", "device", "too_large", "name"};
  for (const char* list : {"not_kept", "only_copies"}) {
    if (!answer.contains(list)) continue;
    for (const auto& item : answer.at(list))
      if (const Thing* thing = find(tree, relative(item.at("path")));
          thing && kLasting.contains(item.at("reason")))
        told_[relative(item.at("path"))] = {thing->identity, thing->ctime_ns};
  }
}

void Judge::note_aside(const Json& answer) {
  if (!answer.contains("kept")) return;
  for (const auto& file : answer.at("kept"))
    if (file.at("locked").get<bool>()) aside_.insert(file.at("hash"));
}

// Whether a path that was not kept still has its entry because its deletion was refused. A link may be in
// its place.
bool Judge::is_left_undeleted(const std::string& path, const Tree& tree, const Listing& is) {
  const Thing* thing = find(tree, path);
  return thing == nullptr || ((thing->kind == 'l' || thing->kind == 'o') && is.folder.contains(path));
}

void Judge::raced(const Json& answer, const Tree& after, const Listing& is) {
  blind_ = true;
  note_aside(answer);
  if (answer.contains("not_kept"))
    for (const auto& item : answer.at("not_kept"))
      if (std::string path = relative(item.at("path")); is_left_undeleted(path, after, is)) {
        undeleted_.insert(path);
        // The workspace still has these entries, so the keeper may bring them into the copy again.
        for (const auto& [below, entry] : is.folder)
          if (below == path || is_below(below, path)) add_outside(below);
      }
  muddled_ = outside_;
  note_lasting(answer, after);
  acknowledge_kept(answer);
  if (answer.contains("kept"))
    for (const auto& file : answer.at("kept")) raced_.insert(file.at("version"));
}

void Judge::met(const Json& answer, const Tree& after, const Listing& is, const std::string& path) {
  raced(answer, after, is);
  check_bytes(is);
  add_outside(path);
  muddled_ = outside_;
  const Json& client = answer.at("client");
  if (!client.contains("made")) return;
  acknowledge(client.at("made").at("version"), client.at("made").at("hash"));
  std::string file = client.at("made").at("file");
  // Code may have renamed it, or a folder above it, in the same moment.
  bool is_there = std::ranges::any_of(is.folder, [&](const auto& one) { return one.second.file == file; });
  if (!is_there) throw Broken("a client put '" + path + "' beside a capture, and it is gone");
}

void Judge::note_answer(const Outcome& outcome) {
  acknowledge_kept(outcome.answer);
  note_lasting(outcome.answer, outcome.before);
  if (outcome.answer.contains("not_kept") || outcome.answer.contains("only_copies")) named_.clear();
  for (const char* list : {"not_kept", "only_copies"}) {
    if (!outcome.answer.contains(list)) continue;
    for (const auto& item : outcome.answer.at(list)) {
      std::string path = relative(item.at("path")), reason = item.at("reason");
      named_.insert(path);
      const Thing* thing = find(outcome.before, path);
      check_reason(path, reason, thing);
      if (thing == nullptr) undeleted_.insert(path);
    }
  }
  note_aside(outcome.answer);
  // What is there again was not left undeleted.
  std::erase_if(undeleted_, [&](const std::string& path) { return outcome.before.contains(path); });
}

// A reason has to be true: what is not kept for no reason is lost.
void Judge::check_reason(const std::string& path, const std::string& reason, const Thing* thing) const {
  // What a copy from before a power cut still holds is not in the directory any more.
  bool from_before = was_cut_ && (thing == nullptr || reason == "too_large");
  bool true_reason = reasons_.contains(reason) || reason == "conflict" || from_before;
  if (thing != nullptr) {
    if (reason == "link") true_reason = thing->kind == 'l';
    if (reason == "fifo") true_reason = thing->kind == 'o';
    if (reason == "too_large") true_reason = thing->size > kFileBytesMax || from_before;
    if (reason == "name") true_reason = path.size() + folder_.size() > 8'000;
  }
  if (!true_reason) throw Broken("'" + path + "' is " + say(thing) + " and was not kept as '" + reason + "'");
}

bool Judge::is_excused(const std::string& path, const Thing* thing) const {
  if (path.size() + folder_.size() > 8'000) return true;  // the file below it is named, folders are not
  for (std::string at = path;; at = parent_of(at)) {
    if (named_.contains(at) || undeleted_.contains(at)) return true;
    if (at.empty()) break;
  }
  for (const auto& other : undeleted_)
    if (is_below(other, path)) return true;
  if (thing == nullptr) return false;
  if (aside_.contains(thing->hash)) return true;
  const Told* told = find(told_, path);
  if (told == nullptr || told->identity != thing->identity) return false;
  // Another name of it may have been written through, or given a mode.
  return told->ctime_ns == thing->ctime_ns || thing->kind != 'f' || thing->size > kFileBytesMax;
}

// What is no file and no folder stays where code made it, whatever a client puts there.
bool Judge::is_in_the_way(const Tree& tree, const std::string& path) {
  const Thing* thing = find(tree, path);
  if (thing != nullptr && (thing->kind == 'l' || thing->kind == 'o')) return true;
  for (std::string at = parent_of(path); !at.empty(); at = parent_of(at))
    if (const Thing* above = find(tree, at); above != nullptr && above->kind != 'd') return true;
  return false;
}

// A folder stays in the copy as long as something is in it that is not in the workspace.
bool Judge::is_kept_by_unkept(const Outcome& outcome, const std::string& folder) const {
  for (auto at = outcome.after.lower_bound(folder + "/");
       at != outcome.after.end() && is_below(at->first, folder); ++at)
    if (at->second.kind != 'd' &&
        (at->second.kind != 'f' || is_excused(at->first, &at->second) ||
         outcome.held.contains({at->second.identity.device, at->second.identity.inode})))
      return true;
  return false;
}

std::string Judge::disagreement() const {
  Listing none;
  Json nothing = Json::object();
  auto are_folders = [&](const std::string& path) {
    const Thing* thing = find(known_, path);
    const Entry* entry = find(base_.folder, path);
    return thing != nullptr && entry != nullptr && thing->kind == 'd' && entry->kind == 'd';
  };
  // The answer that named a refused deletion may have been lost with its keeper.
  auto is_undeleted = [&](const std::string& path) {
    return reasons_.contains("locked") && !known_.contains(path);
  };
  // So may the one that told of a version beside a locked head. That there is one, check_history() knows.
  auto is_aside = [&](const std::string& path) {
    const Thing* thing = find(known_, path);
    return reasons_.contains("locked") && thing != nullptr && must_keep_.contains(thing->hash);
  };
  auto mode_waits = [&](const std::string& path) {
    return same_but_mode(find(base_.folder, path), find(known_, path)) && has_other_names(path, known_);
  };
  Outcome now{known_, known_, none, none, nothing, Brings::maybe, true, {}};
  for (const auto& path : outside_)
    if (!is_aside(path) && !is_image(find(base_.folder, path), find(known_, path)) && !are_folders(path) &&
        !mode_waits(path) && !is_undeleted(path) && !is_in_the_way(known_, path) &&
        !is_kept_by_unkept(now, path) && !is_excused(path, find(known_, path)))
      return path + ": directory " + say(find(known_, path)) + ", workspace " + say(find(base_.folder, path));
  return "";
}

// Where code moved or removed a folder and a client changed something in it, only the next comparisons can
// tell what belongs where.
bool Judge::is_tangled(const Tree& before) const {
  if (outside_.empty()) return false;
  auto at_or_below = [&](const std::string& folder) {
    if (outside_.contains(folder)) return true;
    auto at = outside_.lower_bound(folder + "/");
    return at != outside_.end() && is_below(*at, folder);
  };
  for (const auto& [path, thing] : known_)
    if (thing.kind == 'd' && changed(&thing, find(before, path)) && at_or_below(path)) return true;
  for (const auto& [path, thing] : before)
    if (thing.kind == 'd' && changed(find(known_, path), &thing) && at_or_below(path)) return true;
  for (const auto& tree : brought_)
    for (const auto& [path, thing] : tree)
      if (thing.kind == 'd' && changed(&thing, find(before, path)) && at_or_below(path)) return true;
  return false;
}

void Judge::check_bytes(const Listing& is) const {
  for (const auto& [path, entry] : is.folder)
    if (entry.kind == 'f' && !written_.contains(entry.hash) && !raced_.contains(entry.version))
      throw Broken("the head of '" + path + "' holds bytes that nobody wrote: " + say(&entry));
}

void Judge::check_others(const Listing& was, const Listing& is) {
  for (const auto& [path, entry] : was.others)
    if (!same(find(is.others, path), &entry))
      throw Broken("'" + path + "', which is outside of the session's folder, changed");
  for (const auto& [path, entry] : is.others)
    if (!was.others.contains(path)) throw Broken("'" + path + "' appeared outside of the session's folder");
}

// The names of one file have one mode in the copy. A mode that a client gave to one of them waits until the
// file has no other.
bool Judge::has_other_names(const std::string& path, const Tree& tree) {
  const Thing* thing = find(tree, path);
  if (thing == nullptr || thing->kind != 'f') return false;
  return std::ranges::any_of(
      tree, [&](const auto& one) { return one.first != path && one.second.identity == thing->identity; });
}

// Whether a client put a file at that path, or where a folder above it would have to be.
bool Judge::is_taken(const std::string& path, const Listing& is) const {
  for (std::string at = path; !at.empty(); at = parent_of(at))
    if (const Entry* entry = find(is.folder, at); entry != nullptr && entry->kind == 'f')
      return outside_.contains(at);
  return false;
}

// Whether the answer of a copy that was closed says that something is not in the workspace.
bool Judge::says_unkept(const Json& answer) {
  return !answer.value("all_kept", true) || !answer.value("gone", true);
}

// Whether a client changed it under the name that it had before.
bool Judge::is_outside_file(const Entry* entry) const {
  return entry != nullptr && std::ranges::any_of(outside_, [&](const std::string& path) {
           const Entry* was = find(base_.folder, path);
           return was != nullptr && was->file == entry->file;
         });
}

void Judge::check_path(const std::string& path, const Outcome& outcome, bool by_code) const {
  const Thing *before = find(outcome.before, path), *after = find(outcome.after, path);
  const Entry *was = find(outcome.was.folder, path), *is = find(outcome.is.folder, path);
  auto fail = [&](const std::string& what) {
    throw Broken(what + ": '" + path + "'\n    last compared " + say(find(known_, path)) +
                 "\n    directory before " + say(before) + ", after " + say(after) +
                 "\n    workspace before " + say(was) + ", after " + say(is));
  };
  // The answer to `close` names content that is not kept. About folders that are not kept, and deletions that
  // a full disk did not record, it only reports that there are some.
  bool unnamed = !outcome.tells_all && says_unkept(outcome.answer) &&
                 (before == nullptr ? reasons_.contains("disk_full") && same(is, was)
                                    : before->kind == 'd' &&
                                          (reasons_.contains("disk_full") || is_taken(path, outcome.is)));
  // A client may have given the mode to the name that it had before.
  auto mode_is_theirs = [&] { return is_outside_file(is); };
  if (!outside_.contains(path)) {
    if (changed(before, after) && !(same_but_mode(before, after) && mode_is_theirs()))
      fail("the keeper changed what only code may change");
    if (!is_image(is, before) && !is_excused(path, before) && !unnamed &&
        !(same_but_mode(is, before) && mode_is_theirs()))
      fail("the workspace differs from what code wrote");
    return;
  }
  if (!by_code) {
    if (!same(is, was)) fail("what a client did was undone");
    // Under the hands of code that has it open, a file is not replaced.
    bool held = after != nullptr && outcome.held.contains({after->identity.device, after->identity.inode});
    bool mode_waits =
        !changed(before, after) && same_but_mode(was, after) && has_other_names(path, outcome.before);
    if (held || is_in_the_way(outcome.after, path) || is_kept_by_unkept(outcome, path) ||
        is_image(was, after) || is_excused(path, after) || unnamed || mode_waits)
      return;
    if (outcome.brings == Brings::yes) fail("what a client did is not in the copy");
    if (changed(before, after)) fail("the directory has neither what code left nor what a client wrote");
    return;
  }
  // Bytes of the one and a mode of the other are no contradiction.
  // Nor is a folder that a client deleted and a file of code made anew.
  if (before != nullptr && before->kind == 'd' && is != nullptr && is->kind == 'd') return;
  auto is_mixed = [&](const std::string& hash, uint32_t mode) {
    return before != nullptr && was != nullptr && before->kind == was->kind &&
           (hash == before->hash || hash == was->hash) && (mode == before->mode || mode == was->mode);
  };
  if (!is_image(is, before) && !same(is, was) && !is_excused(path, before) && !unnamed &&
      !(same_but_mode(is, before) && mode_is_theirs()) && (is == nullptr || !is_mixed(is->hash, is->mode)))
    fail("the workspace has neither what code nor what a client wrote");
  if (changed(before, after) && !is_image(was, after) && !is_image(is, after) &&
      !(same_but_mode(before, after) && mode_is_theirs()) &&
      (after == nullptr || !is_mixed(after->hash, after->mode)))
    fail("the directory has neither what code nor what a client wrote");
  const Thing* known = find(known_, path);
  if (rewritten(known, before) && was == nullptr && is == nullptr && !blind_ && !is_excused(path, before))
    fail("code wrote it again, and it is gone");
  bool new_bytes =
      before != nullptr && before->kind == 'f' && (known == nullptr || known->hash != before->hash);
  bool theirs = was != nullptr && was->kind == 'f' && (known == nullptr || known->hash != was->hash);
  bool overtook = new_bytes && theirs && was->hash != before->hash && is != nullptr &&
                  is->hash == before->hash && is->file == was->file;
  // Of what was refused, the workspace never had what was last compared.
  bool refused = pending_.contains(path) || (known != nullptr && known->size > kFileBytesMax);
  if (overtook && !is->diverged && !refused && !muddled_.contains(path))
    fail("two wrote it, and nothing says so");
}

std::set<std::string> Judge::changed_by_code(const Tree& before) const {
  std::set<std::string> by_code;
  auto add = [&](const std::string& path) {
    const Thing *known = find(known_, path), *now = find(before, path);
    if (changed(known, now) || rewritten(known, now))
      for (std::string at = path; !at.empty(); at = parent_of(at)) by_code.insert(at);
  };
  for (const auto& [path, thing] : known_) add(path);
  for (const auto& [path, thing] : before) add(path);
  for (const auto& path : pending_)
    for (std::string at = path; !at.empty(); at = parent_of(at)) by_code.insert(at);
  return by_code;
}

void Judge::check_paths(const Outcome& outcome) const {
  std::set<std::string> paths, by_code = changed_by_code(outcome.before);
  for (const auto& [path, thing] : known_) paths.insert(path);
  for (const auto& [path, thing] : outcome.before) paths.insert(path);
  for (const auto& [path, thing] : outcome.after) paths.insert(path);
  for (const auto& [path, entry] : outcome.was.folder) paths.insert(path);
  for (const auto& [path, entry] : outcome.is.folder) paths.insert(path);
  for (const auto& path : paths)
    check_path(path, outcome, blind_ || by_code.contains(path) || muddled_.contains(path));
}

// A link or the like has to be named when it is first seen.
void Judge::check_told(const Outcome& outcome) const {
  for (const auto& [path, thing] : outcome.before) {
    if (thing.kind != 'l' && thing.kind != 'o') continue;
    // A mode that it got by another name makes it no other.
    const Thing* known = find(known_, path);
    if (known != nullptr && known->kind == thing.kind && known->identity == thing.identity) continue;
    if (!is_excused(path, &thing))
      throw Broken("'" + path + "' is " + say(&thing) + ", and no answer named it");
  }
}

bool Judge::were_one(const std::string& from, const std::string& to, const Tree& before) const {
  std::vector<const Tree*> olds{&known_}, news{&before};
  for (const auto& tree : between_) olds.push_back(&tree), news.push_back(&tree);
  for (const auto& tree : brought_) olds.push_back(&tree);
  std::string old_path = from, new_path = to;
  for (;;) {
    for (const Tree* old_tree : olds)
      for (const Tree* new_tree : news) {
        const Thing *one = find(*old_tree, old_path), *other = find(*new_tree, new_path);
        if (one != nullptr && other != nullptr && one->kind == other->kind &&
            one->identity == other->identity)
          return true;
      }
    if (name_of(old_path) != name_of(new_path)) return false;
    old_path = parent_of(old_path);
    new_path = parent_of(new_path);
    if (old_path.empty() || new_path.empty() || old_path == new_path) return false;
  }
}

void Judge::check_renames(const Outcome& outcome) const {
  if (outcome.answer.contains("renamed")) {
    const auto& renamed = outcome.answer.at("renamed");
    for (size_t i = 0; i < renamed.size(); ++i) {
      std::string from = relative(renamed.at(i).at(0)), to = relative(renamed.at(i).at(1));
      // Where its folder was renamed earlier in the same answer, it was known under the folder's old name.
      std::string origin = from;
      for (size_t earlier = i; earlier-- > 0;) {
        std::string folder = relative(renamed.at(earlier).at(1));
        if (is_below(origin, folder))
          origin = relative(renamed.at(earlier).at(0)) + origin.substr(folder.size());
      }
      if (!were_one(from, to, outcome.before) && !were_one(origin, to, outcome.before))
        throw Broken("a rename was told that never was: '" + from + "' to '" + to + "'");
    }
  }
  std::map<std::string, std::string> places;
  for (const auto& [path, entry] : base_.folder) places.emplace(entry.file, path);
  for (const auto& [path, entry] : outcome.is.folder) {
    auto found = places.find(entry.file);
    if (found == places.end() || found->second == path) continue;
    if (outside_.contains(path) || outside_.contains(found->second)) continue;
    if (!were_one(found->second, path, outcome.before))
      throw Broken("'" + path + "' got the history of '" + found->second + "', which is another file");
  }
}

// Whether a file and a folder have changed places on the way: that is not told apart from new ones.
bool Judge::is_crossing(const std::string& from, const std::string& to, const Tree& now) const {
  auto is_no_folder = [](const Tree& tree, std::string path) {
    while (!(path = parent_of(path)).empty())
      if (const Thing* thing = find(tree, path); thing != nullptr && thing->kind != 'd') return true;
    return false;
  };
  return is_no_folder(now, from) || is_no_folder(known_, to);
}

// What was renamed and nothing else keeps its id.
void Judge::check_ids(const Outcome& outcome) const {
  std::map<Identity, std::vector<std::string>> old_names, new_names;
  for (const auto& [path, thing] : known_) old_names[thing.identity].push_back(path);
  for (const auto& [path, thing] : outcome.before) new_names[thing.identity].push_back(path);
  for (const auto& [identity, names] : new_names) {
    const auto* olds = find(old_names, identity);
    if (olds == nullptr || olds->size() != 1 || names.size() != 1) continue;
    const std::string &from = olds->front(), &to = names.front();
    // A name that the workspace has already keeps its own history.
    if (from == to || outcome.before.contains(from) || known_.contains(to) || outcome.was.folder.contains(to))
      continue;
    // In a folder that was renamed, too, something else may have taken its old name, or it the name of
    // another.
    if (changed(find(known_, parent_of(from)), find(outcome.before, parent_of(from)))) continue;
    const Thing* above = find(outcome.before, parent_of(to));
    if (above != nullptr && old_names.contains(above->identity) && !known_.contains(parent_of(to))) continue;
    if (is_crossing(from, to, outcome.before)) continue;
    const Entry *was = find(base_.folder, from), *is = find(outcome.is.folder, to);
    if (was == nullptr || is == nullptr || was->kind != is->kind || !same_but_mode(was, find(known_, from)))
      continue;
    if (was->file != is->file)
      throw Broken("'" + from + "' was renamed to '" + to + "' and got another id: " + say(was) + ", " +
                   say(is));
  }
}

void Judge::check_trash(const Outcome& outcome) const {
  for (const auto& [file, place] : outcome.is.trash) {
    if (base_.trash.contains(file)) continue;
    const auto& [path, kind] = place;
    if (path.empty() || path.starts_with('/'))
      throw Broken("the session's own folder, or something outside of it, went to the trash");
    if (outside_.contains(path)) continue;
    const Thing* now = find(outcome.before, path);
    bool was_there = now != nullptr && now->kind == kind;
    for (const auto& tree : between_)
      if (const Thing* then = find(tree, path); then == nullptr || then->kind != kind) was_there = false;
    if (was_there) throw Broken("'" + path + "' went to the trash, and nobody deleted it");
  }
}

void Judge::remember_written(const Outcome& outcome) {
  for (const auto& [path, thing] : outcome.before)
    if (thing.kind == 'f' && !is_excused(path, &thing) && !purged_.contains(thing.hash)) {
      const Thing* known = find(known_, path);
      if (known == nullptr || known->hash != thing.hash) must_keep_.insert(thing.hash);
    }
}

// It is not known who did what: every difference may be a client's doing.
void Judge::muddle(const Outcome& outcome) {
  for (const auto& [path, entry] : outcome.is.folder)
    if (!is_image(&entry, find(outcome.after, path))) add_outside(path);
  for (const auto& [path, thing] : outcome.after)
    if (!is_image(find(outcome.is.folder, path), &thing)) add_outside(path);
  muddled_ = outside_;
}

void Judge::settled(const Outcome& outcome) {
  note_answer(outcome);
  check_bytes(outcome.is);
  check_others(outcome.was, outcome.is);
  bool tangled = is_tangled(outcome.before) || (blind_ && !outside_.empty());
  if (!locked_ && !tangled) check_paths(outcome);
  if (!locked_ && !blind_ && between_.empty() && outcome.tells_all) check_told(outcome);
  if (!blind_ && !tangled) check_renames(outcome);
  if (!blind_ && !locked_ && between_.empty() && outside_.empty()) check_ids(outcome);
  if (!blind_ && !locked_ && !tangled) check_trash(outcome);
  remember_written(outcome);
  std::set<std::string> before_outside = std::exchange(outside_, {});
  if (locked_ || tangled) {
    muddle(outcome);
  } else {
    for (const auto& path : before_outside)
      if (!is_image(find(outcome.is.folder, path), find(outcome.after, path)) ||
          (outcome.brings != Brings::yes && rewritten_.contains(path)))
        add_outside(path);
    // A deletion that was refused, since the file is another one by now: that one may come.
    for (const auto& path : named_)
      if (outcome.is.folder.contains(path) && !outcome.after.contains(path)) add_outside(path);
    std::erase_if(muddled_, [&](const std::string& path) { return !outside_.contains(path); });
    // A mode that came with a file which code renamed meanwhile.
    for (const auto& [path, entry] : outcome.is.folder) {
      const Thing* thing = find(outcome.after, path);
      if (entry.kind == 'f' && same_but_mode(&entry, thing) && entry.mode != thing->mode) add_outside(path);
    }
  }
  pending_.clear();
  // So is a deletion that a full disk refused.
  for (const auto& path : named_)
    if (outcome.after.contains(path) || outcome.is.folder.contains(path)) pending_.insert(path);
  Tree earlier = std::exchange(known_, outcome.after);
  between_.clear();
  // A rename that a full disk refused is told later, perhaps after more answers.
  if (named_.empty())
    brought_.clear();
  else
    brought_.push_back(std::move(earlier));
  blind_ = false;
  base_ = outcome.is;
}

void Judge::brought(const Outcome& outcome) {
  check_bytes(outcome.is);
  check_others(outcome.was, outcome.is);
  auto by_code = changed_by_code(outcome.before);
  bool tangled = is_tangled(outcome.before) || (blind_ && !outside_.empty());
  std::set<std::string> paths = outside_;
  for (const auto& [path, thing] : outcome.before) paths.insert(path);
  for (const auto& [path, thing] : outcome.after) paths.insert(path);
  for (const auto& path : paths) {
    const Thing *before = find(outcome.before, path), *after = find(outcome.after, path);
    if (!locked_ && !tangled) {
      if (muddled_.contains(path)) continue;
      if (!by_code.contains(path))
        check_path(path, outcome, false);
      else if (!outside_.contains(path) && changed(before, after) && !is_excused(path, before))
        throw Broken("bringing in what clients did changed what code wrote: '" + path + "' from " +
                     say(before) + " to " + say(after));
      else if (before != nullptr && before->kind == 'f' && changed(find(known_, path), before) &&
               (after == nullptr || after->hash != before->hash) &&
               (known_.count(path) == 0 || known_.at(path).hash != before->hash))
        must_keep_.insert(before->hash);
    }
    // What code made is not known because another name of it was given a mode.
    if (!changed(before, after) || (before != nullptr && !known_.contains(path))) continue;
    if (after == nullptr)
      known_.erase(path);
    else if (by_code.contains(path) && same_but_mode(before, after))
      known_[path].mode = after->mode;  // what code wrote is still to be captured
    else
      known_[path] = *after;
  }
  brought_.push_back(outcome.after);
  // A folder stays as long as something in it does.
  if (outcome.brings == Brings::yes) rewritten_.clear();
  // The keeper does not take a file that code has open for the client's file, even if their bytes are equal.
  auto is_held = [&](const std::string& path) {
    const Thing* thing = find(outcome.after, path);
    return thing != nullptr && !known_.contains(path) &&
           outcome.held.contains({thing->identity.device, thing->identity.inode});
  };
  if (outcome.brings == Brings::yes)
    for (const auto& path : std::exchange(outside_, {}))
      if (!is_image(find(outcome.is.folder, path), find(outcome.after, path)) || is_held(path))
        add_outside(path);
  // Code may have renamed it since.
  if (tangled && blind_) muddle(outcome);
}

void Judge::evicted(const Listing& is) {
  for (const auto& [path, thing] : known_) add_outside(path);
  for (const auto& [path, entry] : is.folder) add_outside(path);
  known_.clear();
  pending_.clear();
  muddled_.clear();
  told_.clear();
  aside_.clear();
  undeleted_.clear();
  named_.clear();
  base_ = is;
}

}  // namespace sk::model
