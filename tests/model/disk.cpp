#include "model/disk.h"

#include <fcntl.h>
#include <linux/loop.h>
#include <sched.h>
#include <spawn.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

namespace sk::model {

namespace {

constexpr unsigned long kShutdown = _IOR('X', 125, uint32_t);  // EXT4_IOC_SHUTDOWN
constexpr uint32_t kWithoutLogFlush = 2;

bool run(const char* program, std::initializer_list<const char*> arguments) {
  std::vector<char*> argv{const_cast<char*>(program)};
  for (const char* argument : arguments) argv.push_back(const_cast<char*>(argument));
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
  pid_t pid = 0;
  int status = 1;
  if (::posix_spawnp(&pid, program, &actions, nullptr, argv.data(), environ) == 0) ::waitpid(pid, &status, 0);
  posix_spawn_file_actions_destroy(&actions);
  return status == 0;
}

// A loop device over an image without a name; both go when the last descriptor does.
int make_loop(uint64_t bytes, std::string& device) {
  const char* folder = ::access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
  int image = ::open(folder, O_RDWR | O_TMPFILE | O_CLOEXEC, 0600);
  if (image < 0 || ::ftruncate(image, static_cast<off_t>(bytes)) != 0) return -1;
  int control = ::open("/dev/loop-control", O_RDWR | O_CLOEXEC);
  int loop = -1;
  for (int tries = 0; control >= 0 && loop < 0 && tries < 50; ++tries) {
    int number = ::ioctl(control, LOOP_CTL_GET_FREE);
    if (number < 0) break;
    device = "/dev/loop" + std::to_string(number);
    loop = ::open(device.c_str(), O_RDWR | O_CLOEXEC);
    if (loop < 0) break;
    loop_config config{};
    config.fd = static_cast<uint32_t>(image);
    config.info.lo_flags = LO_FLAGS_AUTOCLEAR;
    if (::ioctl(loop, LOOP_CONFIGURE, &config) == 0) break;
    ::close(loop);  // somebody else was quicker
    loop = -1;
  }
  if (control >= 0) ::close(control);
  ::close(image);
  return loop;
}

}  // namespace

std::unique_ptr<Disk> Disk::make(uint64_t bytes, std::string* why) {
  auto refuse = [&](const std::string& what) {
    *why = what + ": " + std::strerror(errno);
    return nullptr;
  };
  if (::geteuid() != 0) return refuse("power cuts need root");
  std::unique_ptr<Disk> disk(new Disk);
  disk->path_ = "/mnt";
  if (::unshare(CLONE_NEWNS) != 0 || ::mount("", "/", nullptr, MS_PRIVATE | MS_REC, nullptr) != 0)
    return refuse("no mount namespace");
  disk->loop_ = make_loop(bytes, disk->device_);
  if (disk->loop_ < 0) return refuse("no loop device");
  if (!run("/usr/sbin/mkfs.ext4",
           {"-q", "-F", "-E", "nodiscard,lazy_itable_init=1,lazy_journal_init=1", disk->device_.c_str()}))
    return refuse("mkfs.ext4 failed");
  try {
    disk->mount();
  } catch (const std::exception&) {
    return refuse("no mount");
  }
  return disk;
}

Disk::~Disk() {
  if (loop_ < 0) return;
  ::umount2(path_.c_str(), MNT_DETACH);
  ::close(loop_);
}

void Disk::mount() {
  if (::mount(device_.c_str(), path_.c_str(), "ext4", MS_NOATIME, "") != 0)
    throw std::runtime_error(std::string("cannot mount: ") + std::strerror(errno));
}

void Disk::cut_power() {
  int root = ::open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  uint32_t flags = kWithoutLogFlush;
  if (root < 0 || ::ioctl(root, kShutdown, &flags) != 0) throw std::runtime_error("cannot cut the power");
  ::close(root);
  for (int tries = 0; ::umount2(path_.c_str(), 0) != 0; ++tries) {
    if (errno != EBUSY || tries == 500) throw std::runtime_error("cannot unmount: busy");
    ::usleep(2'000);
  }
  mount();
}

void Disk::fill() {
  int fd = ::open((path_ + "/filler").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  if (fd < 0) return;
  off_t at = 0;
  for (uint64_t step = 64 << 20; step >= 4096;) {
    if (::fallocate(fd, 0, at, static_cast<off_t>(step)) == 0)
      at += static_cast<off_t>(step);
    else
      step /= 2;
  }
  ::close(fd);
}

void Disk::make_room() { ::unlink((path_ + "/filler").c_str()); }

}  // namespace sk::model
