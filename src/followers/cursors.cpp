#include "followers/cursors.h"

#include <unordered_map>

#include "catalog/database.h"

namespace sk::followers {

namespace {

constexpr size_t kHeadsAtOnce = 1'000;
constexpr size_t kUnsavedMax = 1'000;

// Calls `with_page(heads)` for the heads of all journals, some at a time.
template <class F>
void for_all_heads(workspace::Journal& journal, const F& with_page) {
  std::optional<Id> after;
  for (;;) {
    auto heads = journal.heads(after, kHeadsAtOnce);
    if (heads.empty()) return;
    after = heads.back().workspace;
    with_page(heads);
  }
}

class DurableCursors final : public Cursors {
 public:
  DurableCursors(workspace::Keep& keep, std::string follower, Begin begin)
      : db_(keep.context().db), journal_(keep.journal()), follower_(std::move(follower)), begin_(begin) {}

  // The row of the follower comes last: after a kill in between, all of it is done again.
  void open() override {
    bool is_known = db_.read([&](catalog::Statements& statements) {
      return statements.exists("SELECT 1 FROM followers WHERE name = $1", {follower_});
    });
    if (is_known) return;
    if (begin_ == Begin::now)
      for_all_heads(journal_, [&](const std::vector<workspace::JournalHead>& heads) {
        db_.write(catalog::Scope::shared(), [&](catalog::Tx& tx) {
          for (const auto& head : heads) write(tx, head.workspace, head.seq);
        });
      });
    db_.write(catalog::Scope::shared(), [&](catalog::Tx& tx) {
      tx.exec("INSERT INTO followers (name, created_us) VALUES ($1, $2)", {follower_, tx.now_us()});
    });
  }

  int64_t get(const Id& workspace) override {
    if (auto found = unsaved_.find(workspace); found != unsaved_.end()) return found->second;
    return db_.read([&](catalog::Statements& statements) {
      return statements
          .one("SELECT seq FROM follower_cursors WHERE follower = $1 AND workspace = $2",
               {follower_, workspace}, [](const catalog::Row& row) { return row.integer(0); })
          .value_or(0);
    });
  }

  void set(const Id& workspace, int64_t seq, Entries entries) override {
    unsaved_[workspace] = seq;
    is_save_due_ = is_save_due_ || entries == Entries::handled || unsaved_.size() >= kUnsavedMax;
  }
  bool is_save_due() const override { return is_save_due_; }

  // Not synced: a repeated event after a power cut costs less than a sync beside every commit.
  void save() override {
    if (unsaved_.empty()) return;
    db_.write(
        catalog::Scope::shared(),
        [&](catalog::Tx& tx) {
          for (const auto& [workspace, seq] : unsaved_)
            if (workspace::Journal::exists(tx, workspace)) write(tx, workspace, seq);
        },
        catalog::Survives::kill);
    unsaved_.clear();
    is_save_due_ = false;
  }

 private:
  void write(catalog::Tx& tx, const Id& workspace, int64_t seq) {
    tx.exec(
        "INSERT INTO follower_cursors (follower, workspace, seq) VALUES ($1, $2, $3) "
        "ON CONFLICT (follower, workspace) DO UPDATE SET seq = excluded.seq",
        {follower_, workspace, seq});
  }

  catalog::Database& db_;
  workspace::Journal& journal_;
  const std::string follower_;
  const Begin begin_;
  std::unordered_map<Id, int64_t> unsaved_;
  bool is_save_due_ = false;
};

class MemoryCursors final : public Cursors {
 public:
  MemoryCursors(workspace::Keep& keep, Begin begin) : journal_(keep.journal()), begin_(begin) {}

  void open() override {
    if (begin_ == Begin::at_start) return;
    for_all_heads(journal_, [&](const std::vector<workspace::JournalHead>& heads) {
      for (const auto& head : heads) cursors_[head.workspace] = head.seq;
    });
  }
  int64_t get(const Id& workspace) override {
    auto found = cursors_.find(workspace);
    return found == cursors_.end() ? 0 : found->second;
  }
  void set(const Id& workspace, int64_t seq, Entries) override { cursors_[workspace] = seq; }
  bool is_save_due() const override { return false; }
  void save() override {}

 private:
  workspace::Journal& journal_;
  const Begin begin_;
  std::unordered_map<Id, int64_t> cursors_;
};

}  // namespace

std::unique_ptr<Cursors> durable_cursors(workspace::Keep& keep, std::string follower, Begin begin) {
  return std::make_unique<DurableCursors>(keep, std::move(follower), begin);
}

size_t purge_cursors(catalog::Tx& tx, const Id& workspace, size_t /*rows_max*/) {
  return tx.exec("DELETE FROM follower_cursors WHERE workspace = $1", {workspace});
}

std::unique_ptr<Cursors> memory_cursors(workspace::Keep& keep, Begin begin) {
  return std::make_unique<MemoryCursors>(keep, begin);
}

}  // namespace sk::followers
