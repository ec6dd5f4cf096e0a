#include "base/magic.h"

#include <magic.h>

#include <memory>
#include <vector>

#include "base/mutex.h"

namespace sk {

namespace {

// Pools libmagic handles, which are expensive to load and serve one thread at a time.
class Magic {
 public:
  std::string type_of(std::string_view bytes) {
    Handle handle = take();
    if (!handle) return {};
    const char* type = magic_buffer(handle.get(), bytes.data(), bytes.size());
    std::string result = type == nullptr ? "" : type;
    MutexLock lock(mutex_);
    idle_.push_back(std::move(handle));
    return result;
  }

 private:
  struct Close {
    void operator()(magic_set* handle) const { magic_close(handle); }
  };
  using Handle = std::unique_ptr<magic_set, Close>;

  Handle take() {
    {
      MutexLock lock(mutex_);
      if (!idle_.empty()) {
        Handle handle = std::move(idle_.back());
        idle_.pop_back();
        return handle;
      }
    }
    Handle handle(
        magic_open(MAGIC_MIME_TYPE | MAGIC_NO_CHECK_COMPRESS | MAGIC_NO_CHECK_ELF | MAGIC_NO_CHECK_TAR));
    if (handle && magic_load(handle.get(), nullptr) != 0) handle.reset();
    return handle;
  }

  Mutex mutex_;
  std::vector<Handle> idle_ SK_GUARDED_BY(mutex_);
};

}  // namespace

std::string type_by_magic(std::string_view bytes) {
  static Magic magic;
  return magic.type_of(bytes);
}

}  // namespace sk
