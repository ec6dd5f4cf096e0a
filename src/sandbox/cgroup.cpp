#include "sandbox/cgroup.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>

#include "base/error.h"
#include "base/fd.h"
#include "base/hash.h"
#include "base/text.h"

namespace sk::sandbox {

namespace {

constexpr std::string_view kFolderPrefix = "sandkeep-";
constexpr std::string_view kUsed[] = {"memory", "pids", "cpu", "cpuacct", "freezer"};
constexpr uint64_t kCpuPeriodUs = 100'000;

bool contains(const std::vector<std::string>& list, std::string_view item) {
  return std::find(list.begin(), list.end(), item) != list.end();
}

// Writes a control file in one write, as required. Returns errno, or 0 on success.
int write_value(const std::string& path, std::string_view value) {
  Fd fd(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (!fd) return errno;
  auto written = ::write(fd.get(), value.data(), value.size());
  return written == static_cast<ssize_t>(value.size()) ? 0 : errno;
}

void must_write(const std::string& path, std::string_view value) {
  if (int err = write_value(path, value))
    throw system_error("cannot write " + std::string(value) + " to " + path, err);
}

std::string read_text(const std::string& path) {
  Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  std::string out;
  char buffer[4096];
  ssize_t count;
  while (fd && (count = ::read(fd.get(), buffer, sizeof buffer)) > 0)
    out.append(buffer, static_cast<size_t>(count));
  return out;
}

uint64_t read_number(const std::string& path) { return parse_unsigned(trim(read_text(path))).value_or(0); }

// Returns the number after `name` in a file of lines "name value".
uint64_t read_field(const std::string& path, std::string_view name) {
  std::string text = read_text(path);
  for (auto line : split(text, '\n'))
    if (line.size() > name.size() && line.starts_with(name) && line[name.size()] == ' ')
      return parse_unsigned(trim(line.substr(name.size() + 1))).value_or(0);
  return 0;
}

std::vector<std::string> words(std::string_view text, char separator) {
  std::vector<std::string> out;
  for (auto word : split(trim(text), separator))
    if (!word.empty()) out.emplace_back(word);
  return out;
}

// Format of mountinfo: id parent major:minor root mount-point options … - type source super-options
struct MountLine {
  std::string root, point, type, options;
};

std::optional<MountLine> parse_mount_line(std::string_view line) {
  auto separator = line.find(" - ");
  if (separator == std::string_view::npos) return std::nullopt;
  auto before = split(line.substr(0, separator), ' ');
  auto after = split(line.substr(separator + 3), ' ');
  if (before.size() < 5 || after.size() < 3) return std::nullopt;
  return MountLine{std::string(before[3]), std::string(before[4]), std::string(after[0]),
                   std::string(after[2])};
}

// Returns the folder of group `group` below a mount whose root is the group `root`.
std::optional<std::string> folder_of(const MountLine& mount, std::string_view group) {
  std::string_view rest = group;
  if (mount.root != "/") {
    if (!rest.starts_with(mount.root)) return std::nullopt;
    rest.remove_prefix(mount.root.size());
  }
  return mount.point + (rest == "/" ? "" : std::string(rest));
}

}  // namespace

std::vector<CgroupHierarchy> parse_hierarchies(std::string_view mountinfo, std::string_view own_groups) {
  std::vector<CgroupHierarchy> out;
  for (auto line : split(mountinfo, '\n')) {
    auto mount = parse_mount_line(line);
    if (!mount || (mount->type != "cgroup" && mount->type != "cgroup2")) continue;
    CgroupHierarchy found;
    found.version = mount->type == "cgroup" ? 1 : 2;
    auto options = words(mount->options, ',');
    for (auto group_line : split(own_groups, '\n')) {
      // Version 1: "4:memory:/group". Version 2: "0::/group".
      auto first = group_line.find(':');
      auto second = first == std::string_view::npos ? first : group_line.find(':', first + 1);
      if (second == std::string_view::npos) continue;
      auto controllers = words(group_line.substr(first + 1, second - first - 1), ',');
      bool same = found.version == 2 ? controllers.empty() && group_line.starts_with("0:")
                                     : !controllers.empty() && contains(options, controllers[0]);
      if (!same) continue;
      auto folder = folder_of(*mount, group_line.substr(second + 1));
      if (!folder) continue;
      found.own_path = *folder;
      found.controllers = controllers;
    }
    if (!found.own_path.empty()) out.push_back(std::move(found));
  }
  return out;
}

CgroupTree CgroupTree::find() {
  auto hierarchies = parse_hierarchies(read_text("/proc/self/mountinfo"), read_text("/proc/self/cgroup"));
  return CgroupTree(std::move(hierarchies),
                    std::string(kFolderPrefix) + std::to_string(::getpid()) + "-" + random_base64url(6));
}

CgroupTree::CgroupTree(std::vector<CgroupHierarchy> hierarchies, std::string folder_name)
    : folder_name_(std::move(folder_name)) {
  // Version 1 first, because a hybrid host leaves version 2 without controllers.
  for (int version : {1, 2})
    for (const auto& hierarchy : hierarchies)
      if (hierarchy.version == version) use(hierarchy);
  for (const auto& branch : branches_) {
    description_ += (description_.empty() ? "v" : "; v") + std::to_string(branch.version) + ":";
    for (const auto& controller : branch.controllers) description_ += " " + controller;
  }
  if (description_.empty()) description_ = "no group that this user may divide";
}

void CgroupTree::use(const CgroupHierarchy& hierarchy) {
  Branch branch{hierarchy.version, {}, hierarchy.own_path + "/" + folder_name_};
  auto available = hierarchy.version == 2 ? words(read_text(hierarchy.own_path + "/cgroup.controllers"), ' ')
                                          : hierarchy.controllers;
  for (auto name : kUsed)
    if (contains(available, name) && !has(name)) branch.controllers.emplace_back(name);
  if (branch.controllers.empty()) return;
  sweep(hierarchy.own_path);
  if (::mkdir(branch.path.c_str(), 0755) != 0 && errno != EEXIST) return;
  if (hierarchy.version == 2) {
    // Only a group without processes may delegate controllers, so the server first moves into a leaf.
    std::string leaf = hierarchy.own_path + "/" + folder_name_ + "-server";
    bool moved = (::mkdir(leaf.c_str(), 0755) == 0 || errno == EEXIST) &&
                 write_value(leaf + "/cgroup.procs", std::to_string(::getpid())) == 0;
    std::vector<std::string> kept;
    for (const auto& name : branch.controllers)
      if (moved && write_value(hierarchy.own_path + "/cgroup.subtree_control", "+" + name) == 0 &&
          write_value(branch.path + "/cgroup.subtree_control", "+" + name) == 0)
        kept.push_back(name);
    branch.controllers = std::move(kept);
    if (branch.controllers.empty()) {
      ::rmdir(branch.path.c_str());
      return;
    }
    branch.controllers.emplace_back("freezer");  // every group of version 2 has a freezer
  }
  branches_.push_back(std::move(branch));
}

// Removes the folders of killed servers. They are empty, because the sessions ended with their server.
void CgroupTree::sweep(const std::string& own_path) const {
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(own_path, ignored)) {
    std::string name = entry.path().filename().string();
    if (!name.starts_with(kFolderPrefix)) continue;
    auto pid = parse_unsigned(std::string_view(name).substr(
        kFolderPrefix.size(), name.find('-', kFolderPrefix.size()) - kFolderPrefix.size()));
    if (!pid || std::filesystem::exists("/proc/" + std::to_string(*pid), ignored)) continue;
    for (const auto& session : std::filesystem::directory_iterator(entry.path(), ignored))
      if (session.is_directory(ignored)) ::rmdir(session.path().c_str());
    ::rmdir(entry.path().c_str());
  }
}

CgroupTree::~CgroupTree() {
  for (const auto& branch : branches_) ::rmdir(branch.path.c_str());
}

bool CgroupTree::has(std::string_view controller) const {
  return std::any_of(branches_.begin(), branches_.end(),
                     [&](const auto& branch) { return contains(branch.controllers, controller); });
}

std::vector<std::string> CgroupTree::folders() const {
  std::vector<std::string> out;
  for (const auto& branch : branches_) out.push_back(branch.path);
  return out;
}

std::unique_ptr<Cgroup> CgroupTree::make() const {
  return std::make_unique<Cgroup>(*this, "s" + std::to_string(++*names_));
}

Cgroup::Cgroup(const CgroupTree& tree, std::string name) : tree_(tree), name_(std::move(name)) {
  for (const auto& branch : tree_.branches_) {
    std::string path = branch.path + "/" + name_;
    if (::mkdir(path.c_str(), 0755) != 0) {
      int err = errno;
      remove();
      throw system_error("cannot make the control group " + path, err);
    }
    places_.push_back({branch.version, std::move(path)});
  }
}

const Cgroup::Place* Cgroup::place_of(std::string_view controller) const {
  for (size_t i = 0; i < places_.size(); ++i)
    if (contains(tree_.branches_[i].controllers, controller)) return &places_[i];
  return nullptr;
}

void Cgroup::add(pid_t pid) {
  for (const auto& place : places_) must_write(place.path + "/cgroup.procs", std::to_string(pid));
}

void Cgroup::set_limits(const SessionLimits& limits) {
  std::string bytes = std::to_string(limits.memory_bytes);
  if (auto* place = place_of("memory")) {
    if (place->version == 2) {
      must_write(place->path + "/memory.max", bytes);
      write_value(place->path + "/memory.swap.max", "0");  // missing without swap
    } else {
      must_write(place->path + "/memory.limit_in_bytes", bytes);
      write_value(place->path + "/memory.memsw.limit_in_bytes", bytes);
    }
  }
  if (auto* place = place_of("pids"))
    must_write(place->path + "/pids.max", std::to_string(limits.processes_max));
  if (auto* place = place_of("cpu"); place && limits.cpu_percent > 0) {
    std::string quota = std::to_string(limits.cpu_percent * kCpuPeriodUs / 100);
    if (place->version == 2)
      must_write(place->path + "/cpu.max", quota + " " + std::to_string(kCpuPeriodUs));
    else
      must_write(place->path + "/cpu.cfs_quota_us", quota);
  }
}

std::optional<uint64_t> Cgroup::processes_refused() const {
  auto* place = place_of("pids");
  if (place == nullptr) return std::nullopt;
  return read_field(place->path + "/pids.events", "max");
}

CgroupFiles Cgroup::files() const {
  CgroupFiles out;
  auto folder = [this](std::string_view controller) -> std::optional<CgroupFiles::Folder> {
    auto* place = place_of(controller);
    if (place == nullptr) return std::nullopt;
    return CgroupFiles::Folder{place->version, place->path};
  };
  out.memory_ = folder("memory");
  out.pids_ = folder("pids");
  out.cpuacct_ = folder("cpuacct");
  out.cpu_ = folder("cpu");
  if (out.cpu_ && out.cpu_->version != 2) out.cpu_.reset();
  return out;
}

Usage CgroupFiles::read() const {
  Usage out;
  if (memory_) {
    bool is_v2 = memory_->version == 2;
    out.memory_bytes = read_number(memory_->path + (is_v2 ? "/memory.current" : "/memory.usage_in_bytes"));
    out.memory_peak_bytes =
        read_number(memory_->path + (is_v2 ? "/memory.peak" : "/memory.max_usage_in_bytes"));
    out.oom_kills =
        read_field(memory_->path + (is_v2 ? "/memory.events" : "/memory.oom_control"), "oom_kill");
  }
  if (pids_) {
    out.processes = read_number(pids_->path + "/pids.current");
    out.processes_refused = read_field(pids_->path + "/pids.events", "max");
  }
  if (cpuacct_) out.cpu_us = read_number(cpuacct_->path + "/cpuacct.usage") / 1000;
  if (cpu_) out.cpu_us = read_field(cpu_->path + "/cpu.stat", "usage_usec");
  return out;
}

bool Cgroup::set_frozen(bool frozen) {
  auto* place = place_of("freezer");
  if (!place) return false;
  if (place->version == 2) return write_value(place->path + "/cgroup.freeze", frozen ? "1" : "0") == 0;
  return write_value(place->path + "/freezer.state", frozen ? "FROZEN" : "THAWED") == 0;
}

std::vector<pid_t> Cgroup::processes() const {
  std::vector<pid_t> out;
  if (places_.empty()) return out;
  for (const auto& word : words(read_text(places_[0].path + "/cgroup.procs"), '\n'))
    if (auto pid = parse_unsigned(word)) out.push_back(static_cast<pid_t>(*pid));
  return out;
}

bool Cgroup::remove() {
  std::erase_if(places_,
                [](const Place& place) { return ::rmdir(place.path.c_str()) == 0 || errno == ENOENT; });
  return places_.empty();
}

}  // namespace sk::sandbox
