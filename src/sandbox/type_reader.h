// Detects types of content in processes of its own, which can do nothing else: libmagic parses bytes that
// strangers chose.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/fd.h"
#include "base/mutex.h"

namespace sk::sandbox {

// Any thread.
class TypeReader {
 public:
  // Forks a process without capabilities, and from it two readers that may only read and write their own
  // sockets. One that dies, or that takes half a second, is replaced. All end with this process, which must
  // have one thread. Throws Error(internal).
  TypeReader();
  TypeReader(const TypeReader&) = delete;
  TypeReader& operator=(const TypeReader&) = delete;
  ~TypeReader();

  // Considers the first kBytesMax bytes. Returns a MIME type, or "" if there is none, or no reader found one.
  static constexpr size_t kBytesMax = 4096, kReaders = 2;
  std::string type_of(std::string_view bytes);

 private:
  struct Reader {
    Fd socket;
    uint32_t asked = 0;  // number of the last question
    bool is_free = true;
  };

  static std::string ask(Reader& reader, std::string_view bytes);

  pid_t pid_ = 0;
  Mutex mutex_;
  ConditionVariable freed_;
  // A reader that is not free belongs to the thread that took it.
  std::array<Reader, kReaders> readers_;
};

}  // namespace sk::sandbox
