// The child that hosts the code under test.
#include <fcntl.h>
#include <sched.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <map>
#include <memory>
#include <optional>
#include <thread>

#include "base/error.h"
#include "base/log.h"
#include "interpreter/copy/copy_keeper.h"
#include "interpreter/records.h"
#include "model/judge.h"
#include "model/keeper.h"
#include "model/step.h"
#include "support/content_of.h"
#include "support/keep_options.h"

namespace sk::model {

namespace {

using interpreter::CaptureAs;
using interpreter::CopyKeeper;
using interpreter::NotKept;
using interpreter::Settled;

constexpr size_t kNoLimit = 1'000'000'000;

std::string hex_of(std::string_view bytes) { return to_hex(as_bytes(bytes)); }

class Host {
 public:
  explicit Host(const KeeperOptions& options)
      : keep_(keep_options(options), clock_, metrics_),
        records_(keep_.context()),
        watcher_(watcher_options(options)),
        context_{keep_,
                 records_,
                 watcher_,
                 options.directory + "/copies",
                 {::geteuid(), ::getegid()},
                 kFileBytesMax,
                 options.boot_id} {
    keep_.access().ensure_first_principal("a-root-key-of-the-model");
    actor_ = keep_.access().authenticate("a-root-key-of-the-model");
    interpreter::WorkingCopy::clear_aside(context_.directory);
  }

  Json carry_out(const Json& order) {
    Json answer = Json::object();
    try {
      run(order, answer);
    } catch (const Error& error) {
      answer["error"] = info(error.code()).name;
      answer["message"] = error.message();
    } catch (const std::exception& error) {
      answer["error"] = "exception";
      answer["message"] = error.what();
    }
    try {
      if (workspace_) list(answer);
    } catch (const std::exception& error) {
      answer["list_error"] = error.what();
    }
    return answer;
  }

 private:
  static workspace::KeepOptions keep_options(const KeeperOptions& options) {
    auto keep = test::keep_options(options.directory + "/data");
    keep.catalog_readers = 2;
    keep.strict_writes = options.strict_writes;
    return keep;
  }

  static interpreter::Watcher::Options watcher_options(const KeeperOptions& options) {
    return {.folders_per_copy_max = options.folders_max > 0 ? options.folders_max : 8'192};
  }

  CaptureAs as() { return interpreter::capture_as(session_, actor_); }

  // The session of the history, in a workspace of its own.
  void make_session(const Json& order, Json& answer) {
    keeper_.reset();
    keep_.context().limits = test::workspace_limits();
    // Each history has a workspace and a session of the same principal.
    keep_.context().limits.workspaces_per_principal_max = kNoLimit;
    keep_.context().limits.sessions_kept_per_principal_max = kNoLimit;
    auto made = keep_.workspaces().create(actor_, order.at("name"));
    workspace_ = keep_.workspaces().open(actor_, made.id.with_prefix(workspace::prefix::workspace),
                                         workspace::Right::own);
    session_ = {};
    session_.id = keep_.context().ids.next();
    session_.workspace = made.id;
    session_.folder = order.at("folder");
    session_.name = order.at("name");
    session_.owner = actor_.principal();
    session_.created_us = session_.active_us = clock_.now_us();
    records_.insert(*workspace_, session_);
    answer["session"] = session_.id.hex();
    answer["directory"] = context_.directory + "/" + session_.id.hex();
  }

  // After a restart.
  void find_session(const Json& order) {
    session_ = *records_.find(*Id::from_hex(order.at("session").get<std::string>()));
    workspace_ = keep_.workspaces().open(actor_, session_.workspace.with_prefix(workspace::prefix::workspace),
                                         workspace::Right::own);
  }

  CopyKeeper& keeper() {
    if (!keeper_) keeper_ = std::make_unique<CopyKeeper>(context_, session_);
    return *keeper_;
  }

  static Json not_kept_of(const std::vector<NotKept>& items) {
    Json list = Json::array();
    for (const auto& item : items)
      list.push_back({{"path", item.path}, {"reason", name_of(item.reason)}, {"only_copy", item.only_copy}});
    return list;
  }

  void tell(const Settled& settled, Json& answer) {
    Json kept = Json::array(), renamed = Json::array();
    for (const auto& file : settled.kept)
      kept.push_back({{"path", file.path},
                      {"file", file.file.hex()},
                      {"version", file.version.hex()},
                      {"hash", file.sha256.hex()},
                      {"complete", file.complete},
                      {"diverged", file.diverged},
                      {"locked", file.locked},
                      {"change", name_of(file.change)}});
    for (const auto& [from, to] : settled.renamed) renamed.push_back({from, to});
    answer["kept"] = kept;
    answer["renamed"] = renamed;
    answer["deleted"] = settled.deleted;
    answer["folders"] = settled.folders;
    answer["not_kept"] = not_kept_of(settled.not_kept);
  }

  void tell(const CopyKeeper::Closed& closed, Json& answer) {
    answer["all_kept"] = closed.kept;
    if (closed.only_copies) answer["only_copies"] = not_kept_of(*closed.only_copies);
  }

  void run(const Json& order, Json& answer) {
    std::string what = order.at("do");
    if (what == "new") return make_session(order, answer);
    if (what == "find") return find_session(order);
    if (run_copy(what, order, answer) || run_client(what, order, answer) || run_limits(what, order) ||
        run_checks(what, order, answer))
      return;
    throw std::runtime_error("no order " + what);
  }

  static CopyKeeper::OpenFiles open_files(const Json& order) {
    CopyKeeper::OpenFiles open;
    for (const auto& file : order.at("open"))
      open.emplace(file.at(0).get<uint64_t>(), file.at(1).get<uint64_t>());
    return open;
  }

  void place_figure(const Json& order) {
    constexpr size_t kNameBytesMax = 255;
    std::string path = keeper().paths().disk_path(order.at("path"));
    std::string bytes = content(order.at("number"), order.at("size"));
    if (path.size() - (path.rfind('/') + 1) > kNameBytesMax) return;
    try {
      keeper().place(path, [&](const CopyKeeper::Pieces& take) { take(as_bytes(bytes)); });
    } catch (const Error& error) {
      if (error.code() != Code::conflict) throw;  // something is in its way
    }
  }

  // A capture, and a client that puts a file so many microseconds after it began.
  void meet(const Json& order, Json& answer) {
    Json client = Json::object();
    {
      std::jthread beside([&] {
        ::usleep(order.at("after_us").get<useconds_t>());
        try {
          run_client("put", order.at("client"), client);
        } catch (const Error& error) {
          client["error"] = info(error.code()).name;
        }
      });
      auto open = open_files(order);
      auto extent = order.at("all").get<bool>() ? CopyKeeper::Extent::all : CopyKeeper::Extent::touched;
      tell(keeper().capture(extent, as(), [&] { return open; }), answer);
    }
    answer["client"] = client;
  }

  bool run_copy(const std::string& what, const Json& order, Json& answer) {
    if (what == "open") {
      tell(keeper().open(as()), answer);
      keeper().mark_used();
    } else if (what == "capture" || what == "capture_all") {
      auto open = open_files(order);
      auto extent = what == "capture" ? CopyKeeper::Extent::touched : CopyKeeper::Extent::all;
      tell(keeper().capture(extent, as(), [&] { return open; }), answer);
    } else if (what == "meet") {
      meet(order, answer);
    } else if (what == "figure") {
      if (keeper().is_open()) place_figure(order);
    } else if (what == "bring") {
      auto open = open_files(order);
      answer["sentences"] = Json::array();
      for (const auto& sentence : keeper().bring_outside_changes(as(), [&] { return open; }))
        answer["sentences"].push_back(sentence.text());
    } else if (what == "close") {
      tell(keeper().close(as()), answer);
      keeper_.reset();
    } else if (what == "recover") {
      tell(keeper().recover(as()), answer);
      keeper_.reset();
    } else if (what == "look") {
      tell(keeper().look_for_only_copies(as()), answer);
      keeper_.reset();
    } else if (what == "evict") {
      answer["gone"] = keeper().evict(as());
      keeper_.reset();
    } else if (what == "remove") {
      keeper().remove();
      records_.mark_deleted(*workspace_, session_, clock_.now_us());
      keeper_.reset();
    } else {
      return false;
    }
    return true;
  }

  Json version_of(const workspace::Version& version) {
    return {{"version", version.id.hex()},   {"file", version.file.hex()},
            {"hash", version.sha256.hex()},  {"complete", version.complete},
            {"source", version.source.kind}, {"detail", version.source.detail}};
  }

  bool run_client(const std::string& what, const Json& order, Json& answer) {
    auto path = [&] { return order.at("path").get<std::string>(); };
    if (what == "put") {
      workspace::PutChange put;
      put.path = path();
      put.content = content_of(keep_.context(), content(order.at("number"), order.at("size")));
      auto result = keep_.files().apply_one(*workspace_, std::move(put));
      answer["made"] = version_of(*result.version);
    } else if (what == "trash") {
      answer["trashed"] =
          keep_.files().apply_one(*workspace_, workspace::TrashChange{path(), {}}).entry.id.hex();
    } else if (what == "move") {
      keep_.files().apply_one(
          *workspace_, workspace::MoveChange{path(), order.at("other"), workspace::OnExisting::refuse, {}});
    } else if (what == "make") {
      keep_.files().apply_one(*workspace_, workspace::MkdirChange{path(), 0755, {}, true});
    } else if (what == "mode") {
      keep_.files().apply_one(*workspace_,
                              workspace::SetModeChange{path(), order.at("number").get<uint32_t>(), {}, {}});
    } else if (what == "restore" || what == "purge_trashed") {
      auto id = *Id::from_hex(order.at("file").get<std::string>());
      if (what == "restore")
        keep_.files().restore(*workspace_, id, workspace::OnExisting::rename);
      else
        keep_.files().purge(*workspace_, id);
    } else if (what == "purge_version") {
      keep_.files().purge_version(*workspace_, *Id::from_hex(order.at("version").get<std::string>()));
    } else if (what == "lock") {
      workspace::LockWanted wanted;
      wanted.path = path();
      // Somebody else's: the session has no token.
      tokens_.push_back(keep_.locks().acquire(*workspace_, wanted).token);
    } else if (what == "unlock") {
      for (const auto& lock : keep_.locks().list(*workspace_)) keep_.locks().break_lock(*workspace_, lock.id);
    } else {
      return false;
    }
    return true;
  }

  bool run_limits(const std::string& what, const Json& order) {
    if (what == "quota") {
      auto now = keep_.workspaces().open(
          actor_, workspace_->workspace_id().with_prefix(workspace::prefix::workspace));
      keep_.workspaces().change(*workspace_, std::nullopt,
                                now.workspace().used_bytes + order.at("size").get<uint64_t>());
    } else if (what == "disk") {
      keep_.context().limits.disk_reserve_bytes =
          order.at("number").get<uint64_t>() != 0 ? UINT64_MAX / 2 : 0;
    } else if (what == "batch") {
      keep_.context().limits.batch_max = order.at("size");
    } else {
      return false;
    }
    return true;
  }

  bool run_checks(const std::string& what, const Json& order, Json& answer) {
    if (what == "list") return true;
    if (what == "read") {
      Json hashes = Json::object();
      for (const auto& item : order.at("versions")) {
        std::string name = item;
        try {
          auto version = keep_.files().find_version_anywhere(*Id::from_hex(name));
          hashes[name] =
              version
                  ? sha256_hex(workspace::ContentReader(keep_.context(), version->sha256, 0, version->size)
                                   .read_all())
                  : "missing";
        } catch (const Error& error) {
          hashes[name] = std::string("error ") + std::string(info(error.code()).name) + " " + error.message();
        }
      }
      answer["hashes"] = hashes;
    } else if (what == "versions") {
      Json all = Json::array();
      for (const auto& item : order.at("files"))
        for (const auto& version :
             keep_.files().versions(*workspace_, *Id::from_hex(item.get<std::string>()), "", 1000).items)
          all.push_back(version_of(version));
      answer["versions"] = all;
    } else if (what == "manifest") {
      Json paths = Json::array();
      keep_.context().db.read([&](catalog::Statements& statements) {
        statements.query("SELECT path FROM manifests WHERE session = $1", {session_.id},
                         [&](const catalog::Row& row) {
                           paths.push_back(hex_of(row.str(0)));
                           return true;
                         });
      });
      answer["paths"] = paths;
      answer["dirty"] = records_.copy_state(session_.id).dirty;
    } else if (what == "audit") {
      std::string file = keep_.directory() + "/audit-of-the-model";
      {
        std::ofstream out(file);
        keep_.audit().export_to(*workspace_, [&](std::string_view line) { out << line; });
      }
      auto verdict = workspace::Audit::verify_file(file);
      ::unlink(file.c_str());
      answer["valid"] = verdict.valid;
      answer["problem"] = verdict.problem;
    } else if (what == "verify") {
      answer["problems"] = keep_.upkeep().verify().problems;
    } else {
      return false;
    }
    return true;
  }

  // The whole workspace and its trash, as they are now.
  void list(Json& answer) {
    Json entries = Json::array(), trash = Json::array();
    workspace::ListOptions options;
    options.recursive = true;
    do {
      auto page = keep_.files().list(*workspace_, options);
      for (const auto& entry : page.items)
        entries.push_back({entry.path, entry.kind == workspace::EntryKind::folder ? "d" : "f",
                           entry.sha256.hex(), entry.mode & 0777, entry.id.hex(),
                           entry.head ? entry.head.hex() : "", entry.diverged});
      options.cursor = page.next_cursor;
    } while (!options.cursor.empty());
    std::string cursor;
    do {
      auto page = keep_.files().trash(*workspace_, cursor, 1000);
      for (const auto& entry : page.items)
        trash.push_back({entry.path, entry.kind == workspace::EntryKind::folder ? "d" : "f", entry.id.hex()});
      cursor = page.next_cursor;
    } while (!cursor.empty());
    answer["entries"] = entries;
    answer["trash"] = trash;
  }

  SystemClock clock_;
  Metrics metrics_;
  workspace::Keep keep_;
  interpreter::Records records_;
  interpreter::Watcher watcher_;
  interpreter::CopyContext context_;
  workspace::Actor actor_;
  std::optional<workspace::Authority> workspace_;
  interpreter::SessionInfo session_;
  std::unique_ptr<CopyKeeper> keeper_;
  std::vector<std::string> tokens_;
};

void write_text(const char* path, const std::string& text) { std::ofstream(path) << text; }

// A user namespace of its own has limits of its own.
void limit_watches(size_t watches_max) {
  uid_t uid = ::geteuid();
  gid_t gid = ::getegid();
  if (::unshare(CLONE_NEWUSER) != 0) return;
  write_text("/proc/self/setgroups", "deny");
  write_text("/proc/self/uid_map", std::to_string(uid) + " " + std::to_string(uid) + " 1");
  write_text("/proc/self/gid_map", std::to_string(gid) + " " + std::to_string(gid) + " 1");
  write_text("/proc/sys/user/max_inotify_watches", std::to_string(watches_max));
}

}  // namespace

void serve_keeper(const KeeperOptions& options, Channel channel) {
  log::configure(log::Level::error, log::Format::text);  // small limits are meant
  if (options.watches_max > 0) limit_watches(options.watches_max);
  try {
    Host host(options);
    while (auto order = channel.receive())
      if (!channel.send(sk::to_text(host.carry_out(Json::parse(*order))))) break;  // errors name any bytes
  } catch (const std::exception& error) {
    std::fprintf(stderr, "the keeper cannot start: %s\n", error.what());
    ::_exit(3);
  }
  ::_exit(0);
}

}  // namespace sk::model
