// Exports the journal as a file that can be verified without the server.
#include <fcntl.h>

#include "api/rest/rest.h"

namespace sk::api::rest {

namespace {

using http::Reply;

// Writes to an unnamed temporary file first, because a reply states its length before its first byte. The
// file disappears by itself.
Reply export_journal(Call& call, const workspace::ReadableJournal& journal) {
  auto file = std::make_shared<Fd>(open_file(call.app.keep.directory(), O_TMPFILE | O_RDWR | O_CLOEXEC));
  uint64_t size = 0;
  std::string buffer;
  auto flush = [&] {
    write_all(file->get(), as_bytes(buffer), "the audit export");
    size += buffer.size();
    buffer.clear();
  };
  call.app.keep.audit().export_to(journal, [&](std::string_view line) {
    buffer += line;
    if (!line.ends_with('\n')) buffer += '\n';
    if (buffer.size() >= 1 << 20) flush();
  });
  flush();
  call.note("read", "audit");

  Reply reply;
  reply.headers.set("Content-Type", "application/x-ndjson");
  reply.headers.set("Content-Disposition", "attachment; filename=\"audit.jsonl\"");
  reply.headers.set("Cache-Control", "no-store");
  reply.body = http::FileRange{std::move(file), 0, size};
  return reply;
}

Operation audit_operation(std::string pattern, std::string id, std::string summary) {
  return {.method = "GET",
          .pattern = std::move(pattern),
          .id = std::move(id),
          .tag = "audit",
          .summary = std::move(summary),
          .details = "Signed lines of JSON. `sandkeep audit verify FILE` checks them without a server.",
          .answers = {{200, "The journal with its signed checkpoints.", "", "application/x-ndjson"}},
          .errors = {Code::forbidden, Code::not_found}};
}

}  // namespace

void add_audit_routes(Routes& routes) {
  routes.add(audit_operation(kWorkspace + "/audit", "export_audit", "Exports a workspace's journal"),
             [](Call& call) { return export_journal(call, call.open_workspace()); });
  routes.add(audit_operation(kRoot + "/audit", "export_server_audit",
                             "Exports the server's journal; for administrators"),
             [](Call& call) {
               call.need_admin();
               return export_journal(call, workspace::ReadableJournal::of_server(call.actor));
             });
}

}  // namespace sk::api::rest
