# What tests/tidy needs built: the program that writes documents from tables, and each header in a file of its own.
add_executable(write_docs tests/tidy/write_docs.cpp)
target_precompile_headers(write_docs REUSE_FROM sk_pch)
target_link_libraries(write_docs PRIVATE sk_server)

# A header that compiles alone can be included first. No precompiled header here: it would hide what is missing.
file(GLOB_RECURSE headers CONFIGURE_DEPENDS RELATIVE ${CMAKE_SOURCE_DIR}/src src/*.h)
list(FILTER headers EXCLUDE REGEX "/inside/")
foreach(header ${headers})
  string(REPLACE "/" "_" name ${header})
  set(source ${CMAKE_BINARY_DIR}/headers_alone/${name}.cpp)
  if(NOT EXISTS ${source})
    file(WRITE ${source} "#include \"${header}\"\n")
  endif()
  list(APPEND alone ${source})
endforeach()
add_library(headers_alone OBJECT EXCLUDE_FROM_ALL ${alone})
target_include_directories(headers_alone PRIVATE src)
target_compile_options(headers_alone PRIVATE -O0 -g0 -U_FORTIFY_SOURCE)
