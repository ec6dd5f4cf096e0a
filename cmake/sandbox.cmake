# What runs on the other side of fork is plain C (src/sandbox/inside): a static launcher, which is also pid 1 of each session, and a library
# that the zygote's Python loads. Both, and the Python of runtime/, are embedded into the server, so that it stays one file.
file(GLOB SK_INSIDE_SOURCES CONFIGURE_DEPENDS src/sandbox/inside/*.c)
set(SK_INSIDE_DIR ${CMAKE_BINARY_DIR}/inside)

# Never instrumented: sanitizers bring threads and allocation to where neither may be.
set(SK_INSIDE_FLAGS -fno-sanitize=all -O2 -U_FORTIFY_SOURCE)

set(launcher_sources ${SK_INSIDE_SOURCES})
list(FILTER launcher_sources EXCLUDE REGEX "/session.c$")
add_executable(sandkeep_launcher ${launcher_sources})
target_compile_options(sandkeep_launcher PRIVATE ${SK_INSIDE_FLAGS})
target_link_options(sandkeep_launcher PRIVATE -fno-sanitize=all -static -s)
set_target_properties(sandkeep_launcher PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${SK_INSIDE_DIR})

# Linked against no libc: it takes the one of the Python that loads it, whichever that is.
set(library_sources ${SK_INSIDE_SOURCES})
list(FILTER library_sources EXCLUDE REGEX "/(launcher|init|root).c$")
add_library(sandkeep_inside MODULE ${library_sources})
target_compile_options(sandkeep_inside PRIVATE ${SK_INSIDE_FLAGS})
target_link_options(sandkeep_inside PRIVATE -fno-sanitize=all -nostdlib -s)
set_target_properties(sandkeep_inside PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${SK_INSIDE_DIR} PREFIX "")

file(GLOB_RECURSE SK_RUNTIME_FILES RELATIVE ${CMAKE_SOURCE_DIR}/runtime CONFIGURE_DEPENDS runtime/*.py)
list(TRANSFORM SK_RUNTIME_FILES PREPEND ${CMAKE_SOURCE_DIR}/runtime/ OUTPUT_VARIABLE SK_RUNTIME_PATHS)
add_custom_command(OUTPUT ${SK_INSIDE_DIR}/runtime.zip
  COMMAND ${CMAKE_COMMAND} -E make_directory ${SK_INSIDE_DIR}
  COMMAND ${CMAKE_COMMAND} -E rm -f ${SK_INSIDE_DIR}/runtime.zip
  COMMAND ${CMAKE_COMMAND} -E chdir ${CMAKE_SOURCE_DIR}/runtime
          ${CMAKE_COMMAND} -E tar cf ${SK_INSIDE_DIR}/runtime.zip --format=zip -- ${SK_RUNTIME_FILES}
  DEPENDS ${SK_RUNTIME_PATHS} VERBATIM)

set_source_files_properties(src/sandbox/embedded.cpp PROPERTIES
  COMPILE_DEFINITIONS "SK_INSIDE_DIR=\"${SK_INSIDE_DIR}\""
  OBJECT_DEPENDS "${SK_INSIDE_DIR}/sandkeep_launcher;${SK_INSIDE_DIR}/sandkeep_inside.so;${SK_INSIDE_DIR}/runtime.zip"
  SKIP_PRECOMPILE_HEADERS ON SKIP_UNITY_BUILD_INCLUSION ON)
add_dependencies(sk_sandbox sandkeep_launcher sandkeep_inside)

# The server speaks to them in the same packets.
set(SK_INSIDE_SHARED src/sandbox/inside/common.c src/sandbox/inside/landlock.c src/sandbox/inside/namespaces.c src/sandbox/inside/seccomp.c)
target_sources(sk_sandbox PRIVATE ${SK_INSIDE_SHARED})
set_source_files_properties(${SK_INSIDE_SHARED}
  PROPERTIES SKIP_PRECOMPILE_HEADERS ON SKIP_UNITY_BUILD_INCLUSION ON)

# A server of sandboxes for tests/sandbox, without files kept and without HTTP.
add_executable(sandbox_run tests/sandbox/sandbox_run.cpp)
target_include_directories(sandbox_run PRIVATE tests)
target_precompile_headers(sandbox_run REUSE_FROM sk_pch)
target_link_libraries(sandbox_run PRIVATE sk_sandbox)
