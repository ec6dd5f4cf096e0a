// Writes the documents that come from tables into a folder: write_docs DIR. script/docs calls it for docs/,
// the tidy tests for a folder of their own, to compare.
#include <cstdio>
#include <string>

#include "base/error.h"
#include "base/fd.h"
#include "server/documents.h"

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fputs("usage: write_docs DIR\n", stderr);
    return 2;
  }
  try {
    std::string folder = argv[1];
    sk::write_file_durably(folder + "/settings.md", sk::server::describe_settings_markdown(), 0644);
    sk::write_file_durably(folder + "/errors.md", sk::server::describe_errors_markdown(), 0644);
  } catch (const sk::Error& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}
