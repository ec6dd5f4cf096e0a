#include "sandbox/embedded.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>

#include "base/error.h"

#ifndef MFD_EXEC
#define MFD_EXEC 0x0010U
#endif

// cmake/sandbox.cmake defines SK_INSIDE_DIR and builds these files first.
#define SK_EMBED(symbol, file)                                                                        \
  __asm__(".section .rodata\n.balign 16\n.global " #symbol "\n" #symbol ":\n.incbin \"" SK_INSIDE_DIR \
          "/" file "\"\n.global " #symbol "_end\n" #symbol "_end:\n.byte 0\n.previous\n");            \
  extern "C" const char symbol[];                                                                     \
  extern "C" const char symbol##_end[];

SK_EMBED(sk_embedded_launcher, "sandkeep_launcher")
SK_EMBED(sk_embedded_library, "sandkeep_inside.so")
SK_EMBED(sk_embedded_program, "runtime.zip")

namespace sk::sandbox {

namespace {
std::string_view between(const char* begin, const char* end) {
  return {begin, static_cast<size_t>(end - begin)};
}
}  // namespace

std::string_view embedded_launcher() { return between(sk_embedded_launcher, sk_embedded_launcher_end); }
std::string_view embedded_library() { return between(sk_embedded_library, sk_embedded_library_end); }
std::string_view embedded_program() { return between(sk_embedded_program, sk_embedded_program_end); }

Fd sealed_file(const char* name, std::string_view content) {
  Fd fd(::memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_EXEC));
  // Kernels before 6.3 do not know the flag and make such files executable anyway.
  if (!fd && errno == EINVAL) fd = Fd(::memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!fd) throw system_error("cannot make an anonymous file", errno);
  write_all(fd.get(), as_bytes(content), name);
  if (::fcntl(fd.get(), F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0)
    throw system_error("cannot seal an anonymous file", errno);
  if (::lseek(fd.get(), 0, SEEK_SET) != 0) throw system_error("cannot rewind an anonymous file", errno);
  return fd;
}

}  // namespace sk::sandbox
