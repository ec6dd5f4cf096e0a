#include "sandbox/cgroup.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
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
constexpr std::string_view kUsed[] = {"memory", "pids", "cpu", "cpuacct", "freezer", "io", "blkio"};
constexpr std::string_view kSharedOut[] = {"cpu", "io", "blkio"};
constexpr int kFolderTries = 16;
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

void write_memory_limit(int version, const std::string& path, uint64_t limit) {
  std::string bytes = std::to_string(limit);
  if (version == 2) {
    must_write(path + "/memory.max", bytes);
    write_value(path + "/memory.swap.max", "0");  // missing without swap
  } else {
    must_write(path + "/memory.limit_in_bytes", bytes);
    write_value(path + "/memory.memsw.limit_in_bytes", bytes);
  }
}

// Removes a group without processes and the groups below it.
void remove_groups(const std::string& path) {
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(path, ignored))
    if (entry.is_directory(ignored)) remove_groups(entry.path().string());
  ::rmdir(path.c_str());
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
      found.mount_path = mount->point;
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
  for (std::string parent = hierarchy.own_path;; parent = parent.substr(0, parent.rfind('/'))) {
    Branch branch{hierarchy.version, {}, parent + "/" + folder_name_, hierarchy.own_path};
    auto available = hierarchy.version == 2 ? words(read_text(parent + "/cgroup.controllers"), ' ')
                                            : hierarchy.controllers;
    for (auto name : kUsed)
      if (contains(available, name) && !has(name)) branch.controllers.emplace_back(name);
    if (!branch.controllers.empty()) {
      sweep(parent);
      bool is_made = ::mkdir(branch.path.c_str(), 0755) == 0 || errno == EEXIST;
      if (is_made && (hierarchy.version == 1 || use_version_2(branch, parent))) {
        branches_.push_back(std::move(branch));
        return;
      }
      if (is_made) ::rmdir(branch.path.c_str());
    }
    // A group of version 2 that other programs are in cannot be divided, such as the scope of a terminal. Its
    // parent can, if it belongs to the user as well, such as the slice of the user's programs.
    if (hierarchy.version == 1 || !parent.starts_with(hierarchy.mount_path + "/")) return;
  }
}

// Hands the branch's controllers down to the sessions' groups, and leaves in `branch` those for which that
// works. Returns false without any.
bool CgroupTree::use_version_2(Branch& branch, const std::string& parent) const {
  // Only a group without processes may delegate controllers, so the server first moves into a leaf.
  const bool is_own = parent == branch.own_path;
  const std::string leaf = parent + "/" + folder_name_ + "-server", self = std::to_string(::getpid());
  if (is_own && ((::mkdir(leaf.c_str(), 0755) != 0 && errno != EEXIST) ||
                 write_value(leaf + "/cgroup.procs", self) != 0))
    return false;
  auto delegated = words(read_text(parent + "/cgroup.subtree_control"), ' ');
  std::vector<std::string> kept;
  for (const auto& name : branch.controllers)
    if ((contains(delegated, name) || write_value(parent + "/cgroup.subtree_control", "+" + name) == 0) &&
        write_value(branch.path + "/cgroup.subtree_control", "+" + name) == 0)
      kept.push_back(name);
  branch.controllers = std::move(kept);
  if (branch.controllers.empty()) {
    if (is_own && write_value(parent + "/cgroup.procs", self) == 0) ::rmdir(leaf.c_str());
    return false;
  }
  branch.controllers.emplace_back("freezer");  // every group of version 2 has a freezer
  return true;
}

bool CgroupTree::Branch::is_by_tenant() const {
  return std::any_of(std::begin(kSharedOut), std::end(kSharedOut),
                     [this](auto controller) { return contains(controllers, controller); });
}

// Removes the folders of killed servers. They are empty, because the sessions ended with their server.
void CgroupTree::sweep(const std::string& parent) const {
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(parent, ignored)) {
    std::string name = entry.path().filename().string();
    if (!name.starts_with(kFolderPrefix)) continue;
    auto pid = parse_unsigned(std::string_view(name).substr(
        kFolderPrefix.size(), name.find('-', kFolderPrefix.size()) - kFolderPrefix.size()));
    if (!pid || std::filesystem::exists("/proc/" + std::to_string(*pid), ignored)) continue;
    remove_groups(entry.path().string());
  }
}

CgroupTree::~CgroupTree() {
  for (const auto& branch : branches_) remove_groups(branch.path);
}

const CgroupTree::Branch* CgroupTree::branch_of(std::string_view controller) const {
  for (const auto& branch : branches_)
    if (contains(branch.controllers, controller)) return &branch;
  return nullptr;
}

bool CgroupTree::has(std::string_view controller) const { return branch_of(controller) != nullptr; }

uint64_t CgroupTree::memory_bytes() const {
  uint64_t bytes =
      static_cast<uint64_t>(::sysconf(_SC_PHYS_PAGES)) * static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
  auto* branch = branch_of("memory");
  if (!branch) return bytes;
  uint64_t limit = branch->version == 2
                       ? read_number(branch->own_path + "/memory.max")
                       : read_field(branch->own_path + "/memory.stat", "hierarchical_memory_limit");
  return limit > 0 ? std::min(bytes, limit) : bytes;
}

void CgroupTree::limit_memory(uint64_t bytes) const {
  auto* branch = branch_of("memory");
  if (!branch) return;
  write_memory_limit(branch->version, branch->path, bytes);
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
  try {
    for (const auto& branch : tree_.branches_)
      if (!branch.is_by_tenant() && !make_place(branch, branch.path + "/" + name_))
        throw system_error("cannot make a control group in " + branch.path, ENOENT);
  } catch (...) {
    remove();
    throw;
  }
}

// Returns false if the folder that is to contain it does not exist.
bool Cgroup::make_place(const CgroupTree::Branch& branch, const std::string& path) {
  if (::mkdir(path.c_str(), 0755) != 0) {
    if (errno == ENOENT) return false;
    throw system_error("cannot make the control group " + path, errno);
  }
  places_.push_back({&branch, branch.version, path});
  return true;
}

const Cgroup::Place* Cgroup::place_of(std::string_view controller) const {
  for (const auto& place : places_)
    if (contains(place.branch->controllers, controller)) return &place;
  return nullptr;
}

void Cgroup::add(pid_t pid) {
  for (const auto& place : places_) must_write(place.path + "/cgroup.procs", std::to_string(pid));
}

std::vector<Fd> Cgroup::enter_tenant(const std::string& tenant) {
  std::vector<Fd> out;
  for (const auto& branch : tree_.branches_) {
    if (!branch.is_by_tenant()) continue;
    const std::string folder = branch.path + "/t-" + tenant, path = folder + "/" + name_;
    // The tenant's last other session may remove the folder meanwhile.
    int tries = 0;
    do {
      ::mkdir(folder.c_str(), 0755);
      if (branch.version == 2)
        for (const auto& controller : branch.controllers)
          write_value(folder + "/cgroup.subtree_control", "+" + controller);
    } while (!make_place(branch, path) && ++tries < kFolderTries);
    if (tries == kFolderTries) throw system_error("cannot make the control group " + path, ENOENT);
    out.push_back(open_file(path + (branch.version == 2 ? "/cgroup.procs" : "/tasks"), O_WRONLY));
  }
  return out;
}

void Cgroup::set_limits(const SessionLimits& limits) {
  if (auto* place = place_of("memory")) write_memory_limit(place->version, place->path, limits.memory_bytes);
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

void Cgroup::limit_io(const std::string& disk, uint64_t bytes_per_s) {
  std::string rate = std::to_string(bytes_per_s);
  if (auto* place = place_of("io"))
    must_write(place->path + "/io.max", disk + " rbps=" + rate + " wbps=" + rate);
  if (auto* place = place_of("blkio"))
    for (const char* file : {"/blkio.throttle.read_bps_device", "/blkio.throttle.write_bps_device"})
      must_write(place->path + file, disk + " " + rate);
}

std::optional<std::string> disk_below(const std::string& folder) {
  struct stat info{};
  if (::stat(folder.c_str(), &info) != 0) return std::nullopt;
  std::string device =
      "/sys/dev/block/" + std::to_string(major(info.st_dev)) + ":" + std::to_string(minor(info.st_dev));
  std::error_code ignored;
  // Limits are those of a whole disk.
  if (std::filesystem::exists(device + "/partition", ignored)) device += "/..";
  std::string disk(trim(read_text(device + "/dev")));
  return disk.empty() ? std::nullopt : std::optional(disk);
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
    std::string stat = memory_->path + "/memory.stat";
    out.memory_cache_bytes = read_field(stat, "inactive_file") + read_field(stat, "active_file");
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
  std::erase_if(places_, [](const Place& place) {
    if (::rmdir(place.path.c_str()) != 0 && errno != ENOENT) return false;
    // Removes the tenant's folder with its last session; fails while there are others.
    if (place.branch->is_by_tenant()) ::rmdir(place.path.substr(0, place.path.rfind('/')).c_str());
    return true;
  });
  return places_.empty();
}

}  // namespace sk::sandbox
