# SQLite, compiled here from its amalgamation (ARCHITECTURE.md says why not Debian's). The npm package better-sqlite3 carries the source;
# script/bootstrap installs it without running its install script, and nothing else of it is used.
set(SK_SQLITE_DIR ${CMAKE_SOURCE_DIR}/node_modules/better-sqlite3/deps/sqlite3 CACHE PATH "The folder of sqlite3.c and sqlite3.h")
set(SK_SQLITE_VERSION 3.53.2)
set(SK_SQLITE_SHA256_sqlite3.c 60d2f39a3726cd6b9021da6f4e868608d66fbb6528a9f513dc8ffcc640493422)
set(SK_SQLITE_SHA256_sqlite3.h 9e69a1353a4288450b0d5239ede11fc7f1f4c8e5eb07491fc8317eacb5b7de7e)
foreach(name sqlite3.c sqlite3.h)
  set(file ${SK_SQLITE_DIR}/${name})
  if(NOT EXISTS ${file})
    message(FATAL_ERROR "SQLite's source is missing: ${file}\nRun script/bootstrap, which installs it from npm.")
  endif()
  file(SHA256 ${file} hash)
  if(NOT hash STREQUAL SK_SQLITE_SHA256_${name})
    message(FATAL_ERROR "${file} is not the one of SQLite ${SK_SQLITE_VERSION} that this project was tested with.\n"
      "  SHA-256 expected: ${SK_SQLITE_SHA256_${name}}\n  SHA-256 found:    ${hash}\n"
      "Remove node_modules and run script/bootstrap.")
  endif()
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
endforeach()

add_library(sk_sqlite STATIC ${SK_SQLITE_DIR}/sqlite3.c)
target_include_directories(sk_sqlite SYSTEM PUBLIC ${SK_SQLITE_DIR})
target_link_libraries(sk_sqlite PUBLIC Threads::Threads)
set(options
  # Durability. synchronous=FULL also for a connection that does not ask for it; SQLite's recommended NORMAL would lose commits at a power cut.
  SQLITE_DEFAULT_SYNCHRONOUS=2
  SQLITE_DEFAULT_WAL_SYNCHRONOUS=2
  # Deleted rows are overwritten with zeros, as in Debian's build: purged contents do not stay in free pages.
  SQLITE_SECURE_DELETE
  # No memory-mapped database: an I/O error would be a signal instead of an error code.
  SQLITE_MAX_MMAP_SIZE=0
  # Each connection is used by one thread at a time, so it needs no mutex of its own. Different connections may run at the same time.
  SQLITE_THREADSAFE=2
  # No memory statistics, which would take a mutex of the whole process at every allocation.
  SQLITE_DEFAULT_MEMSTATUS=0
  # Strictness. "x" is always a name, never a string by mistake; LIKE does not look into bytes (as in Debian's build).
  SQLITE_DQS=0
  SQLITE_LIKE_DOESNT_MATCH_BLOBS
  # Features that are not used, some of which cost time in every statement, and one of which (extensions) would load code.
  SQLITE_OMIT_LOAD_EXTENSION
  SQLITE_OMIT_DEPRECATED
  SQLITE_OMIT_SHARED_CACHE
  SQLITE_OMIT_PROGRESS_CALLBACK
  SQLITE_OMIT_DECLTYPE
  SQLITE_USE_URI=0
  # Linux has these; the amalgamation asks no configure script. Without fdatasync every commit would also write the log's inode, without pread
  # and pwrite every access would be two calls, and without malloc_usable_size each allocation would store its size.
  HAVE_FDATASYNC=1
  HAVE_PREAD=1
  HAVE_PWRITE=1
  HAVE_MALLOC_H=1
  HAVE_MALLOC_USABLE_SIZE=1
  HAVE_POSIX_FALLOCATE=1
  HAVE_STRERROR_R=1
  HAVE_LOCALTIME_R=1
  HAVE_GMTIME_R=1
  HAVE_STRCHRNUL=1
  _FILE_OFFSET_BITS=64)
# SQLite's own assertions, where speed does not count: they also watch how the log's VFS is used.
list(APPEND options $<$<CONFIG:Debug>:SQLITE_DEBUG> $<$<CONFIG:Debug>:SQLITE_ENABLE_API_ARMOR>)
target_compile_definitions(sk_sqlite PRIVATE ${options})
# SQLite's authors do not aim at code without warnings. It is optimised in every preset: without that, tests would wait for it.
target_compile_options(sk_sqlite PRIVATE -w -g1 $<IF:$<CONFIG:Debug>,-O1,-O2>)
# Connections share the index of the log in memory and read it without locks, by design: ThreadSanitizer would report that. It watches our use of
# SQLite, not SQLite.
if(SK_SANITIZE STREQUAL "thread")
  target_compile_options(sk_sqlite PRIVATE -fno-sanitize=thread)
endif()
