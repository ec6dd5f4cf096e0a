#include "model/runner.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <functional>

#include "model/trace.h"

namespace sk::model {

// One history.
class Runner {
 public:
  Runner(Lane& lane, const History& history)
      : lane_(lane),
        keeper_(lane.keeper_),
        writers_(*lane.writers_),
        history_(history),
        judge_(history.folder) {}

  void run() {
    begin();
    for (const auto& step : history_.steps) {
      ++at_;
      take(step);
      if (lane_.traces_) trace(step);
    }
    end();
  }
  size_t at() const { return at_; }

 private:
  void begin() {
    if (!keeper_.is_alive() || lane_.started_with_ != lane_.options_for(history_.seed)) start_keeper();
    Json answer = need(
        {{"do", "new"}, {"name", "history " + std::to_string(lane_.histories_)}, {"folder", history_.folder}},
        "no session can be made");
    session_ = answer.at("session");
    directory_ = answer.at("directory");
    listing_ = listing_of(answer, history_.folder);
  }

  Json need(const Json& what, const std::string& broken) {
    auto answer = keeper_.order(what);
    if (!answer || answer->contains("error"))
      throw Broken(broken + ": " + (answer ? answer->dump() : "the keeper died"));
    return *answer;
  }

  void start_keeper() {
    lane_.started_with_ = lane_.options_for(history_.seed);
    keeper_.start(lane_.started_with_);
    is_reserved_ = false;
    if (session_.empty()) return;
    auto answer = keeper_.order({{"do", "find"}, {"session", session_}});
    if (full_ && (!answer || answer->contains("error"))) {
      // Without a byte left the catalog may not open. It has to once there is room.
      fill(false);
      keeper_.start(lane_.started_with_);
      answer = keeper_.order({{"do", "find"}, {"session", session_}});
    }
    if (!answer || answer->contains("error"))
      throw Broken("the keeper does not start again: " + (answer ? answer->dump() : std::string("it died")));
    listing_ = listing_of(*answer, history_.folder);
  }

  void ensure_keeper() {
    go_on();
    if (keeper_.is_alive()) return;
    Listing earlier = listing_;
    start_keeper();
    if (client_was_cut_) judge_.client_changed(earlier, listing_);
    client_was_cut_ = false;
    if (power_was_cut_) judge_.power_was_cut(earlier, listing_, in_the_middle_);
  }

  void go_on() {
    if (std::exchange(stopped_, false)) keeper_.go_on();
  }

  void ensure_open() {
    ensure_keeper();
    if (!open_) open();
  }

  void trace(const Step& step) {
    if (open_) writers_.wait();
    std::string text = describe(step, scan(directory_), listing_, std::exchange(last_, Json::object()));
    std::fwrite(text.data(), 1, text.size(), stdout);
  }

  // Carries out an order and lets the judge look. False when it failed and was allowed to.
  bool order(Json what, Brings brings, bool tells_all, bool only_brings = false) {
    writers_.wait();
    if (full_ || is_reserved_) brings = Brings::maybe;  // nothing new fits into the copy
    bool look = !judge_.agrees() || (at_ + history_.seed) % 2 == 0 || only_brings || full_;
    Tree before;
    if (look) {
      before = scan(directory_);
      judge_.code_wrote(before);
    }
    auto answer = keeper_.order(what);
    bool failed = !answer || answer->contains("error") || answer->contains("list_error") ||
                  (full_ && answer->contains("all_kept") && !answer->contains("only_copies"));
    if (failed) {
      if (!full_)
        throw Broken("an order failed: " + what.dump() + ": " +
                     (answer ? answer->dump().substr(0, 500) : "the keeper died"));
      judge_.lost_sight(before);
      if (answer && answer->contains("entries")) listing_ = listing_of(*answer, history_.folder);
      if (!answer) open_ = false;
      return false;
    }
    Tree after = scan(directory_);
    if (!look) {
      judge_.code_wrote(after);
      before = after;
    }
    Listing was = std::exchange(listing_, listing_of(*answer, history_.folder));
    last_ = *answer;
    try {
      Judge::Outcome outcome{before, after, was, listing_, last_, brings, tells_all, writers_.open_files()};
      only_brings ? judge_.brought(outcome) : judge_.settled(outcome);
    } catch (const Broken& broken) {
      throw Broken(broken.what() + ("\n    it answered " + said(last_)));
    }
    return true;
  }

  void open() {
    if (power_was_cut_) return open_after_power_cut("open");
    if (order({{"do", "open"}}, Brings::yes, true)) opened();
  }
  void opened() {
    open_ = true;
    used_ = true;
    writers_.enter(directory_);
  }

  // With room on the disk: without it the copy may lack what does not fit, and the judge compares all of it.
  void open_after_power_cut(const std::string& what) {
    fill(false);
    Listing was = listing_;
    listing_ = listing_of(need({{"do", what}}, "after the power cut"), history_.folder);
    judge_.recovered(scan(directory_), was, listing_, was_clean_);
    power_was_cut_ = false;
    if (what == "open") opened();
  }

  Json with_open_files(const std::string& what) const {
    Json open = Json::array();
    for (const auto& [device, inode] : writers_.open_files()) open.push_back({device, inode});
    return {{"do", what}, {"open", open}};
  }

  void capture(const std::string& what) {
    ensure_open();
    if (!open_) return;
    writers_.wait();
    Json order_ = with_open_files(need_all_ ? "capture_all" : what);
    if (order(order_, Brings::maybe, true)) need_all_ = linked_ = false;
  }

  void place_figure(const Step& step) {
    ensure_open();
    writers_.wait();
    judge_.client_wrote(content(step.number, step.size));
    limit(put_order(step, "figure"));
    Tree tree = scan(directory_);
    judge_.code_wrote(tree);
    judge_.lost_sight(tree);
  }

  void close() {
    if (!open_) return;
    ensure_keeper();
    writers_.release_all();
    order({{"do", "close"}}, Brings::yes, false);
    open_ = used_ = need_all_ = false;
    has_refused_ = tells_of_refused(last_);
    if (!full_ && last_.contains("all_kept") && !last_.contains("only_copies"))
      throw Broken("a copy could not be compared when it was closed");
    if (!full_) check_manifest(keeper_, directory_);
  }

  std::string workspace_path(const std::string& path) const {
    std::string spelled = spell(path);
    if (history_.folder.empty() || spelled.empty()) return history_.folder + spelled;
    return history_.folder + "/" + spelled;
  }

  // A client's change. The answer, unless it was refused.
  std::optional<Json> client(const Json& what) {
    ensure_keeper();
    writers_.wait();
    auto answer = keeper_.order(what);
    if (!answer) throw Broken("the keeper died of " + what.dump());
    if (answer->contains("list_error")) throw Broken(answer->dump());
    Listing was = std::exchange(listing_, listing_of(*answer, history_.folder));
    judge_.client_changed(was, listing_);
    if (!answer->contains("error")) return answer;
    if (!full_ && (answer->at("error") == "internal" || answer->at("error") == "corrupt"))
      throw Broken("a client's change failed: " + what.dump() + ": " + answer->dump());
    return std::nullopt;
  }

  void put(const Step& wanted) {
    Step step = own(wanted);
    judge_.client_wrote(content(step.number, step.size));
    auto answer = client(put_order(step));
    if (answer) judge_.acknowledge(answer->at("made").at("version"), answer->at("made").at("hash"));
  }
  Json put_order(const Step& step, const char* what = "put") const {
    return {{"do", what}, {"path", workspace_path(step.path)}, {"number", step.number}, {"size", step.size}};
  }

  void client_at(const Step& step) {
    client({{"do", step.what},
            {"path", workspace_path(step.path)},
            {"other", workspace_path(step.other)},
            {"number", step.number}});
  }

  void trash(const Step& step) {
    if (history_.folder.empty() && step.path.empty()) return;
    client_at(step);
  }

  Json versions_of(const std::vector<std::string>& files) {
    return need({{"do", "versions"}, {"files", files}}, "versions cannot be listed").at("versions");
  }

  void purge(const Step& step) {
    ensure_keeper();
    auto entry = listing_.file_at(spell(step.path));
    if (!entry) return;
    std::string file = entry->file;
    Json versions = versions_of({file});
    if (!client({{"do", "trash"}, {"path", workspace_path(step.path)}})) return;
    if (!client({{"do", "purge_trashed"}, {"file", file}})) return;
    for (const auto& version : versions) judge_.purged(version.at("version"), version.at("hash"));
  }

  void purge_version(const Step& step) {
    ensure_keeper();
    auto entry = listing_.file_at(spell(step.path));
    if (!entry) return;
    for (const auto& version : versions_of({entry->file})) {
      if (version.at("version") == entry->version) continue;
      if (client({{"do", "purge_version"}, {"version", version.at("version")}}))
        judge_.purged(version.at("version"), version.at("hash"));
      return;
    }
  }

  void restore(const Step& step) {
    ensure_keeper();
    if (listing_.trash.empty()) return;
    auto chosen = listing_.trash.begin();
    std::advance(chosen, static_cast<long>(step.number % listing_.trash.size()));
    std::string file = chosen->first;
    client({{"do", "restore"}, {"file", file}});
  }

  void lock(const Step& step) {
    ensure_keeper();
    if (client({{"do", "lock"}, {"path", workspace_path(step.path)}})) {
      judge_.set_locked(true);
      judge_.allow_reason("locked");
      locked_ = true;
    }
  }

  void unlock() {
    if (!locked_) return;
    client({{"do", "unlock"}});
    judge_.set_locked(false);
    locked_ = false;
  }

  void limit(const Json& what) {
    ensure_keeper();
    auto answer = keeper_.order(what);
    if (!full_ && (!answer || answer->contains("error"))) throw Broken("a limit cannot be set");
  }

  // All room of the disk is below the reserve, until the keeper starts anew.
  void reserve(bool all) {
    limit({{"do", "disk"}, {"number", all ? 1 : 0}});
    is_reserved_ = all;
  }

  // An order met by running code.
  void race() {
    ensure_open();
    if (!open_) return;
    Json order_ = with_open_files(need_all_ ? "capture_all" : "capture");
    if (!captured_beside("running code", keeper_.order(order_))) return;
    Tree after = scan(directory_);
    judge_.raced(last_, after, listing_);
    judge_.code_wrote(after);
  }
  bool captured_beside(const std::string& whom, const std::optional<Json>& answer) {
    writers_.wait();
    if (answer && !answer->contains("error")) {
      listing_ = listing_of(*answer, history_.folder);
      last_ = *answer;
      return true;
    }
    if (!full_)
      throw Broken("a capture failed beside " + whom + ": " +
                   (answer ? answer->dump().substr(0, 500) : "the keeper died"));
    if (!answer) open_ = false;
    blind();
    return false;
  }
  // A capture, and a client that puts a file meanwhile.
  void meet(const Step& wanted) {
    ensure_open();
    if (!open_) return;
    writers_.wait();
    Step step = own(wanted);
    judge_.client_wrote(content(step.number, step.size));
    judge_.code_wrote(scan(directory_));
    Json order_ = with_open_files("meet");
    order_["all"] = need_all_;
    order_["after_us"] = std::stoul(step.other);
    order_["client"] = put_order(step);
    if (!captured_beside("a client", keeper_.order(order_))) return;
    Tree after = scan(directory_);
    judge_.met(last_, after, listing_, spell(step.path));
    judge_.code_wrote(after);
  }
  void blind() { judge_.raced(Json::object(), {}, {}); }

  void kill() {
    writers_.wait();
    go_on();
    keeper_.kill();
    open_ = false;
  }

  // Begins an order and kills the keeper (or the power) after that many microseconds.
  void kill_in(const Step& step) {
    if (step.path == "put") {
      ensure_keeper();
      Step put_step = own(step);
      put_step.path = step.other;
      put_step.size = 8;
      judge_.client_wrote(content(put_step.number, put_step.size));
      client_was_cut_ = true;
      begin_and_kill(put_order(put_step), step.number);
      return;
    }
    ensure_open();
    if (!open_) return;
    writers_.wait();
    if (step.path == "close") writers_.release_all();
    Json order_ = with_open_files(step.path);
    if (step.path == "close") used_ = false;
    begin_and_kill(order_, step.number);
  }

  void begin_and_kill(const Json& order_, uint64_t after_us) {
    writers_.wait();
    Tree tree = scan(directory_);
    judge_.code_wrote(tree);
    judge_.lost_sight(tree);
    keeper_.begin(order_);
    keeper_.answers_within(static_cast<int64_t>(after_us));
    keeper_.kill();
    judge_.lost_sight(scan(directory_));  // the keeper may have brought files before it died
    open_ = false;
  }

  void cut_power(bool in_the_middle) {
    if (!lane_.has_disk()) return;
    if (!in_the_middle) kill();
    was_clean_ = !used_ && !has_refused_ && !in_the_middle;
    judge_.code_wrote(scan(directory_));
    writers_.kill_all();
    lane_.disk_->cut_power();
    ++lane_.boot_;
    power_was_cut_ = true;
    in_the_middle_ = in_the_middle;
    used_ = false;
    need_all_ = false;
    locked_ = false;
  }

  // Each run writes other bytes, so that what an earlier one left in the store cannot help or hurt.
  Step own(const Step& step) const {
    Step mine = step;
    mine.number ^= lane_.histories_ << 44;
    return mine;
  }

  // What is written through a second name that is gone before anybody looks, no event tells. Only a
  // comparison finds it.
  void note_links(const Step& step) {
    if (step.what == "link") linked_ = true;
    if (linked_ && Writers::may_remove(step.what)) need_all_ = true;
  }

  void take(const Step& step) {
    if (Writers::does(step.what)) {
      // Code runs on for a moment when the keeper is killed, and before the copy is opened there is none.
      if (!open_ && !used_) ensure_open();
      if (!open_ && !used_) return;
      note_links(step);
      writers_.start(step.what == "chmod" || step.what == "utimes" ? step : own(step));
      if (!step.together) writers_.wait();
      return;
    }
    static const std::map<std::string, std::function<void(Runner&, const Step&)>> kOrders = {
        {"open", [](Runner& r, const Step&) { r.ensure_open(); }},
        {"capture", [](Runner& r, const Step&) { r.capture("capture"); }},
        {"capture_all", [](Runner& r, const Step&) { r.capture("capture_all"); }},
        {"figure", [](Runner& r, const Step& s) { r.place_figure(r.own(s)); }},
        {"race", [](Runner& r, const Step&) { r.race(); }},
        {"meet", [](Runner& r, const Step& s) { r.meet(s); }},
        {"bring",
         [](Runner& r, const Step&) {
           r.ensure_open();
           if (r.open_) r.order(r.with_open_files("bring"), Brings::yes, true, true);
         }},
        {"close", [](Runner& r, const Step&) { r.close(); }},
        {"recover", [](Runner& r, const Step&) { r.recover(); }},
        {"look", [](Runner& r, const Step&) { r.look(); }},
        {"evict", [](Runner& r, const Step&) { r.evict_copy(); }},
        {"kill", [](Runner& r, const Step&) { r.kill(); }},
        {"kill_in", [](Runner& r, const Step& s) { r.kill_in(s); }},
        {"power", [](Runner& r, const Step&) { r.cut_power(false); }},
        {"power_in",
         [](Runner& r, const Step& s) {
           if (!r.lane_.has_disk()) return;
           r.kill_in(s);
           r.cut_power(true);
         }},
        {"stop",
         [](Runner& r, const Step&) { r.writers_.wait(), r.keeper_.stop_running(), r.stopped_ = true; }},
        {"continue", [](Runner& r, const Step&) { r.writers_.wait(), r.go_on(); }},
        {"die",
         [](Runner& r, const Step& s) { r.writers_.wait(), r.writers_.kill(s.writer), r.need_all_ = true; }},
        {"put", [](Runner& r, const Step& s) { r.put(s); }},
        {"trash", [](Runner& r, const Step& s) { r.trash(s); }},
        {"purge", [](Runner& r, const Step& s) { r.purge(s); }},
        {"purge_version", [](Runner& r, const Step& s) { r.purge_version(s); }},
        {"move", [](Runner& r, const Step& s) { r.client_at(s); }},
        {"make", [](Runner& r, const Step& s) { r.client_at(s); }},
        {"mode", [](Runner& r, const Step& s) { r.client_at(s); }},
        {"restore", [](Runner& r, const Step& s) { r.restore(s); }},
        {"lock", [](Runner& r, const Step& s) { r.lock(s); }},
        {"unlock", [](Runner& r, const Step&) { r.unlock(); }},
        {"quota",
         [](Runner& r, const Step& s) {
           r.judge_.allow_reason("quota"), r.limit({{"do", "quota"}, {"size", s.size}});
         }},
        {"disk",
         [](Runner& r, const Step& s) { r.judge_.allow_reason("disk_full"), r.reserve(s.number != 0); }},
        {"batch", [](Runner& r, const Step& s) { r.limit({{"do", "batch"}, {"size", s.size}}); }},
        {"fill", [](Runner& r, const Step& s) { r.fill(s.number != 0); }},
    };
    auto found = kOrders.find(step.what);
    if (found == kOrders.end()) throw std::runtime_error("no step " + step.what);
    found->second(*this, step);
  }

  void recover() {
    ensure_keeper();
    if (open_) return;
    writers_.release_all();
    if (power_was_cut_) return open_after_power_cut("recover");
    order({{"do", "recover"}}, Brings::yes, false);
    used_ = need_all_ = false;
    has_refused_ = tells_of_refused(last_);
  }

  void look() {
    if (open_ || used_) return;
    ensure_keeper();
    if (power_was_cut_) open_after_power_cut("recover");
    order({{"do", "look"}}, Brings::maybe, false);
  }

  void evict_copy() {
    if (open_ || used_) return;
    ensure_keeper();
    if (power_was_cut_) open_after_power_cut("recover");
    writers_.wait();
    Tree before = scan(directory_);
    Listing was = listing_;
    auto answer = keeper_.order({{"do", "evict"}});
    if (!answer || answer->contains("error")) {
      if (full_) return blind();
      throw Broken("evicting failed: " + (answer ? answer->dump() : ""));
    }
    listing_ = listing_of(*answer, history_.folder);
    Tree after = scan(directory_);
    if (!answer->at("gone").get<bool>()) {
      // It may not have been able to compare, and it does not say so.
      if (full_) return judge_.lost_sight(before);
      judge_.settled({before, after, was, listing_, *answer, Brings::maybe, false, {}});
      return;
    }
    // As if the copy were still there: all of it has to be in the workspace.
    judge_.settled({before, before, was, listing_, *answer, Brings::maybe, false, {}});
    struct stat st;
    if (::lstat(directory_.c_str(), &st) == 0) throw Broken("an evicted copy is still there");
    judge_.evicted(listing_);
  }

  // All room of the disk is taken: then orders may fail, but nothing may be lost.
  void fill(bool full) {
    if (!lane_.has_disk()) return;
    writers_.wait();
    if (full) {
      lane_.disk_->fill();
      judge_.allow_reason("disk_full");
    } else {
      lane_.disk_->make_room();
    }
    full_ = full;
  }

  // Nothing stands in the way any more: directory and workspace have to become equal.
  void end() {
    writers_.wait();
    writers_.release_all();
    fill(false);
    ensure_keeper();
    unlock();
    limit({{"do", "quota"}, {"size", 1ull << 40}});
    reserve(false);
    limit({{"do", "batch"}, {"size", 10'000}});
    ensure_open();
    for (int i = 0; i < 3 && (i == 0 || !judge_.agrees()); ++i) {
      order(with_open_files("bring"), Brings::yes, true, true);
      capture("capture_all");
    }
    if (auto path = judge_.disagreement(); !path.empty())
      throw Broken("copy and workspace never become equal: " + path);
    close();
    check_versions_at_end();
    if (history_.seed % 16 == 0 &&
        !need({{"do", "audit"}}, "the journal's chain cannot be read").at("valid").get<bool>())
      throw Broken("the journal's chain does not verify");
    if (history_.seed % 2 == 0) remove();
  }

  void check_versions_at_end() {
    judge_.check_history(versions_of(files_of(listing_)),
                         std::any_of(listing_.trash.begin(), listing_.trash.end(),
                                     [](const auto& one) { return one.second.second == 'd'; }));
    std::vector<std::pair<std::string, std::string>> all(judge_.acknowledged().begin(),
                                                         judge_.acknowledged().end());
    check_versions(keeper_, all);
    for (auto& one : all) lane_.acknowledged_.push_back(one);
  }

  void remove() {
    Listing was = listing_;
    listing_ = listing_of(need({{"do", "remove"}}, "a session cannot be removed"), history_.folder);
    Judge::check_removed(was, listing_);
  }

  Lane& lane_;
  Keeper& keeper_;
  Writers& writers_;
  const History& history_;
  Judge judge_;
  std::string session_, directory_;
  Listing listing_;
  Json last_;
  size_t at_ = 0;
  bool open_ = false;         // the keeper has the copy open
  bool used_ = false;         // code may run in it
  bool has_refused_ = false;  // the closed copy has refused content, which a power cut may damage
  bool need_all_ = false;     // events may not tell everything
  bool linked_ = false;       // code made a second name of a file since the last capture
  bool stopped_ = false, locked_ = false, full_ = false, is_reserved_ = false;
  bool client_was_cut_ = false, power_was_cut_ = false, in_the_middle_ = false, was_clean_ = false;
};

void Lane::run(const History& history) {
  ++histories_;
  Runner runner(*this, history);
  try {
    runner.run();
  } catch (const std::exception& error) {
    size_t at = runner.at();
    std::string step = at == 0 || at > history.steps.size() ? "" : to_text(history.steps[at - 1]);
    throw Broken(std::string(error.what()) + "\n  at step " + std::to_string(at) + ": " + step);
  }
}

}  // namespace sk::model
