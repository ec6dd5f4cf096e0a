// What must hold, and what is known so far: which bytes were ever written, which versions were answered, what
// code and clients really deleted. It shares no code with what it judges.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/json.h"
#include "model/snapshot.h"

namespace sk::model {

// Larger files are not kept; set so in the keeper.
constexpr uint64_t kFileBytesMax = 1 << 20;

// A promise that was broken.
struct Broken : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct Entry {
  char kind = 'f';
  std::string hash;
  uint32_t mode = 0;
  std::string file, version;
  bool diverged = false;
  bool same_as(const Thing& thing) const {
    return kind == thing.kind && mode == thing.mode && (kind == 'd' || hash == thing.hash);
  }
  bool same_as(const Entry& other) const {
    return kind == other.kind && mode == other.mode && hash == other.hash && file == other.file;
  }
};
using Folder = std::map<std::string, Entry>;

// A workspace at one moment.
struct Listing {
  Folder folder;                                              // of the session, by path relative to it
  Folder others;                                              // everything else, by path
  std::map<std::string, std::pair<std::string, char>> trash;  // file → path relative to the folder, kind

  std::optional<Entry> file_at(const std::string& path) const;
};
Listing listing_of(const Json& answer, const std::string& folder);
// The ids of all files of a workspace, also of those in its trash.
std::vector<std::string> files_of(const Listing& listing);
// Whether the answer names content that is only in the copy.
bool tells_of_refused(const Json& answer);

// What an order does besides capturing.
enum class Brings { maybe, yes };

class Judge {
 public:
  explicit Judge(std::string folder) : folder_(std::move(folder)) {}

  // Before an order, while code is quiet: what it wrote so far.
  void code_wrote(const Tree& tree);
  void client_wrote(const std::string& bytes) { written_.insert(sha256_hex(bytes)); }
  // A client changed the workspace.
  void client_changed(const Listing& before, const Listing& after);
  void acknowledge(const std::string& version, const std::string& hash) { acknowledged_[version] = hash; }
  void purged(const std::string& version, const std::string& hash);

  // Locks are in force: what is refused may be anywhere between directory and workspace.
  void set_locked(bool locked) { locked_ = locked; }
  // What an answer may give as the reason for not keeping something, besides links and the like.
  void allow_reason(const std::string& reason) { reasons_.insert(reason); }
  // An order was cut short or failed: it may have seen the directory as it was then.
  void lost_sight(const Tree& tree);
  // An order met running code.
  void raced(const Json& answer, const Tree& after, const Listing& is);

  // An order met a client that put a file at `path`: whichever came first, that file is there.
  void met(const Json& answer, const Tree& after, const Listing& is, const std::string& path);

  struct Outcome {
    const Tree &before, &after;  // the directory
    const Listing &was, &is;     // the workspace
    const Json& answer;
    Brings brings = Brings::maybe;
    bool tells_all = true;  // its answer names everything that was not kept, not only what is nowhere else
    std::set<std::pair<uint64_t, uint64_t>> held;  // device, inode of what code has open for writing
  };
  // After an order that compared the copy with the workspace, while code was quiet.
  void settled(const Outcome& outcome);
  // After one that only brought in what clients changed.
  void brought(const Outcome& outcome);
  // The copy is gone, all of it is in the workspace.
  void evicted(const Listing& is);
  // After a power cut: the workspace as it was answered, and as it is after the restart.
  void power_was_cut(const Listing& answered, const Listing& is, bool in_the_middle);
  // The copy that lost its unsynced bytes was opened again. `clean`: it had been closed before.
  void recovered(const Tree& after, const Listing& was, const Listing& is, bool clean);

  // The session was removed; its files stay.
  static void check_removed(const Listing& was, const Listing& is);

  const std::map<std::string, std::string>& acknowledged() const { return acknowledged_; }
  // The versions of all files at the end; `partly` when some are left out.
  void check_history(const Json& versions, bool partly) const;
  // Whether nothing of what clients changed is missing in the copy.
  bool agrees() const { return outside_.empty(); }
  // The first path at which copy and workspace differ for no reason that was told; empty when there is none.
  std::string disagreement() const;

 private:
  void note_answer(const Outcome& outcome);
  void note_lasting(const Json& answer, const Tree& tree);
  void note_aside(const Json& answer);
  void acknowledge_kept(const Json& answer);
  static bool is_left_undeleted(const std::string& path, const Tree& tree, const Listing& is);
  void check_bytes(const Listing& is) const;
  static void check_others(const Listing& was, const Listing& is);
  void check_paths(const Outcome& outcome) const;
  void check_path(const std::string& path, const Outcome& outcome, bool changed) const;
  void check_told(const Outcome& outcome) const;
  void check_reason(const std::string& path, const std::string& reason, const Thing* thing) const;
  std::set<std::string> changed_by_code(const Tree& before) const;
  void check_renames(const Outcome& outcome) const;
  void check_ids(const Outcome& outcome) const;
  bool is_crossing(const std::string& from, const std::string& to, const Tree& now) const;
  void check_trash(const Outcome& outcome) const;
  void remember_written(const Outcome& outcome);
  bool is_excused(const std::string& path, const Thing* thing) const;
  bool is_kept_by_unkept(const Outcome& outcome, const std::string& folder) const;
  static bool is_in_the_way(const Tree& tree, const std::string& path);
  bool is_outside_file(const Entry* entry) const;
  static bool has_other_names(const std::string& path, const Tree& tree);
  bool is_taken(const std::string& path, const Listing& is) const;
  static bool says_unkept(const Json& answer);
  bool is_tangled(const Tree& before) const;
  bool were_one(const std::string& from, const std::string& to, const Tree& before) const;
  std::string relative(const std::string& path) const;
  void muddle(const Outcome& outcome);
  void add_outside(const std::string& path);

  const std::string folder_;
  Tree known_;                 // the directory when it was last compared
  std::vector<Tree> between_;  // and at moments since then that an order may have seen
  std::vector<Tree> brought_;  // and after what clients did was brought in
  bool blind_ = false;         // an order may have seen more than those
  Listing base_;               // the workspace when the directory was last compared, or a client changed it
  std::set<std::string> outside_;    // paths that clients changed, and that are not in the copy yet
  std::set<std::string> rewritten_;  // of these, files with a new version, perhaps of the same bytes
  std::set<std::string> pending_;    // what code wrote and the last answer refused: it is tried again
  std::set<std::string> muddled_;    // of them, those where it is not known who did what
  std::set<std::string> written_;    // hashes of all that code and clients wrote
  std::set<std::string> must_keep_;  // hashes that have to be versions at the end
  std::set<std::string> purged_;  // hashes that a client removed for ever; code may still have them somewhere
  std::map<std::string, std::string> acknowledged_;  // version → hash
  std::set<std::string> raced_;                      // versions that may hold the middle of a write
  bool locked_ = false;
  std::set<std::string> reasons_;
  bool was_cut_ = false;
  std::set<std::string> named_;  // by the last answer as not kept
  struct Told {
    Identity identity;
    int64_t ctime_ns = 0;
  };
  std::map<std::string, Told> told_;  // by any answer: a link, too large, a name that cannot be
  std::set<std::string> aside_;       // hashes that were kept beside a locked head
  std::set<std::string> undeleted_;   // deletions that were refused, and said so
};

}  // namespace sk::model
