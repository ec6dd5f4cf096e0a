#include "server/documents.h"

#include "api/common/advice_words.h"
#include "base/error.h"
#include "server/settings_table.h"

namespace sk::server {

namespace {

// Escapes '|', which would end the table cell.
std::string cell(std::string_view text) {
  std::string out;
  for (char c : text) {
    if (c == '|') out += '\\';
    out += c;
  }
  return out;
}

std::string capitalized(std::string text) {
  if (!text.empty() && text[0] >= 'a' && text[0] <= 'z') text[0] = static_cast<char>(text[0] - 32);
  return text;
}

std::string default_cell(const SettingInfo& info) {
  return info.default_text.empty() ? "–" : "`" + std::string(info.default_text) + "`";
}

}  // namespace

std::string describe_settings_help() {
  std::string out;
  for (const auto& group : setting_groups()) {
    out += (out.empty() ? "" : "\n") + std::string(group.title) + ":\n";
    for (const auto& info : all_settings()) {
      if (info.group != group.title) continue;
      std::string left = "  " + (info.is_flag ? info.flag() + " " : info.variable() + "=") + info.value;
      if (!info.default_text.empty()) left += "  [" + std::string(info.default_text) + "]";
      out += left + "\n      " + std::string(info.about) + "\n";
    }
  }
  return out;
}

std::string describe_settings_markdown() {
  std::string out =
      "# Settings\n"
      "\n"
      "Written from `src/server/settings.def`; `script/docs` writes it again.\n"
      "\n"
      "Nothing needs to be set. Each setting can be a flag, an environment variable, or a line of one TOML "
      "file; a flag wins over a\n"
      "variable, a variable over the file, the file over the default. For `idle_timeout_s`:\n"
      "\n"
      "| where | how |\n"
      "|---|---|\n"
      "| flag | `sandkeep serve --idle-timeout-s 90` |\n"
      "| variable | `SANDKEEP_IDLE_TIMEOUT_S=90` |\n"
      "| file | `idle_timeout_s = 90` |\n"
      "\n"
      "The file is the one that `--config` names, or else `sandkeep.toml` in the data folder. Sizes are "
      "written as `1536`, `64 KiB`,\n"
      "`2 GiB` (or decimal: `2 GB`), times as `90`, `90 s`, `20 min`, `12 h`, `30 d`. A list is separated by "
      "commas; in the file it may be an array,\n"
      "on the command line its flag may be repeated. An unknown setting is an error that names the nearest "
      "known one.\n";
  for (const auto& group : setting_groups()) {
    out += "\n## " + std::string(group.title) + "\n\n" + std::string(group.about) + "\n\n";
    out += "| setting | default | accepted | what it does |\n|---|---|---|---|\n";
    for (const auto& info : all_settings())
      if (info.group == group.title)
        out += "| `" + std::string(info.name) + "` | " + default_cell(info) + " | " +
               cell(capitalized(info.expected)) + ". | " + cell(info.about) + " |\n";
  }
  out +=
      "\n## The command-line client\n\nThese variables are read by commands that talk to a server, not by "
      "the server.\n\n";
  out += "| variable | what it does |\n|---|---|\n";
  for (const auto& variable : client_variables())
    out += "| `" + std::string(variable.name) + "` | " + cell(variable.about) + " |\n";
  return out;
}

std::string describe_errors_markdown() {
  std::string out =
      "# Errors\n"
      "\n"
      "Written from `src/base/error_codes.def`; `script/docs` writes it again.\n"
      "\n"
      "Every error of the REST API is `{\"error\":{\"code\",\"message\",\"hint\",\"request_id\"}}`, some "
      "with further facts, such as the current version id of a\n"
      "412. Programs should look at `code`: a code keeps its meaning, a message may change its wording. "
      "`advice`, where it is given, names what `hint` says in\n"
      "words, for programs that have better words for their users.\n"
      "\n"
      "| code | status | what you can do |\n"
      "|---|---|---|\n";
  for (const auto& code : all_codes())
    out += "| `" + std::string(code.name) + "` | " + std::to_string(code.http_status) + " | " +
           cell(api::hint_for(api::Audience::rest, Error(code.code, ""))) + " |\n";
  return out;
}

}  // namespace sk::server
