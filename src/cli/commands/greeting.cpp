#include "cli/commands/greeting.h"

#include <filesystem>

#include "base/text.h"

namespace sk::cli {

namespace {

namespace fs = std::filesystem;

std::string row(const std::string& head, const std::string& text) {
  constexpr size_t kWidth = 11;
  return "  " + head + std::string(kWidth - std::min(kWidth, head.size()), ' ') + text + "\n";
}

std::string key_row(const GreetingFacts& facts) {
  if (facts.made_key)
    return row("key", *facts.made_key + "  (shown only once; saved in " + facts.key_file + ")");
  if (!facts.key_file.empty()) return row("key", "in " + facts.key_file);
  return row("key", facts.key_from.empty() ? "your existing key" : "the key that you set");
}

std::string exports(const GreetingFacts& facts, const std::string& url) {
  std::string key = facts.key_from.empty() ? "KEY" : "\"" + facts.key_from + "\"";
  if (!facts.key_file.empty()) key = "\"$(cat " + shell_word(facts.key_file) + ")\"";
  auto out = "  export SANDKEEP_SERVER=" + shell_word(url) + " SANDKEEP_KEY=" + key;
  if (!facts.authority_file.empty()) out += " SANDKEEP_CA_FILE=" + shell_word(facts.authority_file);
  return out + "\n";
}

}  // namespace

std::string greeting(const GreetingFacts& facts) {
  auto url = reachable_url(facts.url);
  auto out = "ready " + facts.url + "\n\n";
  auto base = facts.public_url.empty() ? url : facts.public_url;
  out += row("page", base + "/  (sign in with the key)");
  out += key_row(facts);
  out += row("data", facts.data_folder);
  if (!facts.code.empty()) out += row("code", facts.code);
  if (!facts.authority_file.empty()) {
    out += row("trust", "sudo cp " + shell_word(facts.authority_file) +
                            " /usr/local/share/ca-certificates/sandkeep.crt && sudo update-ca-certificates");
  }
  out += "\nPoint a client here, with the key (docs/ has a page for each):\n";
  out += row("OpenAI", "OPENAI_BASE_URL=" + base + "/v1");
  out += row("MCP", base + "/mcp");
  out += row("Azure", base + "/azure/pool");
  out += row("Foundry", base + "/api/projects/PROJECT");
  out += row("LibreChat", "LIBRECHAT_CODE_BASEURL=" + base + "/librechat/v1");
  std::string curl = "curl -H \"Authorization: Bearer $SANDKEEP_KEY\" ";
  if (!facts.authority_file.empty()) curl += "--cacert \"$SANDKEEP_CA_FILE\" ";
  std::string address = "\"$SANDKEEP_SERVER/api/v1/workspaces/default/files/hello.txt\"";
  out += "\nTry it in another shell:\n";
  out += exports(facts, url);
  out += "  echo hello > hello.txt\n";
  out += "  " + facts.program + " put hello.txt\n";
  out += "  " + curl + "-T hello.txt " + address + "\n";
  out += "  " + curl + address + "\n";
  out += "  " + facts.program + " log hello.txt\n";
  return out;
}

std::string reachable_url(const std::string& url) {
  auto out = url;
  for (const auto& [any, own] :
       {std::pair<std::string, std::string>{"//0.0.0.0:", "//127.0.0.1:"}, {"//[::]:", "//[::1]:"}})
    if (auto at = out.find(any); at != std::string::npos) out.replace(at, any.size(), own);
  return out;
}

std::string shell_word(const std::string& text) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._/:@%+=,[]";
  if (!text.empty() && text.find_first_not_of(kPlain) == std::string::npos) return text;
  std::string out = "'";
  for (char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

std::string program_name(const std::string& path_variable) {
  std::error_code failed;
  auto self = fs::read_symlink("/proc/self/exe", failed);
  if (failed) return "sandkeep";
  for (auto folder : split(path_variable, ':')) {
    auto candidate = fs::path(folder) / "sandkeep";
    if (folder.empty() || !fs::exists(candidate, failed)) continue;
    // A shell would run the first one found.
    return fs::equivalent(candidate, self, failed) ? "sandkeep" : shell_word(self.string());
  }
  return shell_word(self.string());
}

}  // namespace sk::cli
