#include "cli/commands/purging.h"

#include "base/error.h"
#include "base/text.h"
#include "cli/client/fields.h"
#include "cli/frame/columns.h"

namespace sk::cli {

const Option kYes = {"yes", 'y', "", "confirm: what is purged cannot be restored"};

void need_yes(const Invocation& call, const std::string& what) {
  if (call.arguments.has("yes")) return;
  throw Error(Code::bad_request, "this would permanently delete " + what).hint("Add --yes to confirm.");
}

void need_yes_or_name(const Invocation& call, const std::string& what, const std::string& name) {
  if (call.arguments.has("yes") || !call.terminal.in_is_tty()) return need_yes(call, what);
  call.terminal.note("This permanently deletes " + what + ".");
  call.terminal.status("Type '" + printable(name) + "' to confirm: ");
  auto typed = read_line(call.terminal.in_fd());
  call.terminal.status("");
  if (typed != name) throw Error(Code::bad_request, "'" + typed + "' is not its name, so nothing was purged");
}

void print_purged(const Invocation& call, const Json& result) {
  auto links = list_field(result, "broken_links");
  call.print(result, "purged " + counted(number_field(result, "files"), "file", "files") + " with " +
                         counted(number_field(result, "versions"), "version", "versions") + ", " +
                         human_size(number_field(result, "freed_bytes")) + " of the quota freed");
  if (call.json()) return;
  for (const auto& link : links) call.terminal.line("  broken link: " + text_field(link, "link"));
}

}  // namespace sk::cli
