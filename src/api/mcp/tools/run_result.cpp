#include "api/mcp/tools/run_result.h"

#include "api/mcp/resource_uri.h"
#include "base/text.h"
#include "workspace/links.h"

namespace sk::api::mcp {

namespace {

using interpreter::Execution;
using interpreter::KeptFile;
using interpreter::Outcome;
namespace prefix = workspace::prefix;

// The amount of text that a model can handle at once. The result mentions the rest, which is available as a
// file.
constexpr size_t kTextMax = 20'000;
constexpr size_t kFilesMax = 50;
constexpr size_t kLinksMax = 20;
constexpr size_t kImagesMax = 4;
constexpr size_t kImageBase64Max = 700'000;

// Returns the beginning and the end of a long text, cut between characters.
std::string shortened(const std::string& text) {
  if (text.size() <= kTextMax) return text;
  auto is_inside = [&](size_t at) { return (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80; };
  size_t head = kTextMax * 3 / 4, tail = text.size() - kTextMax / 4;
  while (head > 0 && is_inside(head)) --head;
  while (tail < text.size() && is_inside(tail)) ++tail;
  return text.substr(0, head) + "\n… " + std::to_string(tail - head) +
         " bytes left out; print less, or write to a file and read parts of it …\n" + text.substr(tail);
}

void add_block(std::string& out, std::string_view title, const std::string& text) {
  if (text.empty()) return;
  // Uses a fence that the text does not contain, so that output cannot imitate text of the server.
  std::string fence = "```";
  while (text.find(fence) != std::string::npos) fence += '`';
  if (!out.empty()) out += "\n";
  out.append(title).append("\n").append(fence).append("\n").append(text);
  if (!text.ends_with('\n')) out += '\n';
  out.append(fence).append("\n");
}

Json file_json(const KeptFile& file, const std::string& base_url) {
  Json out = {{"path", file.path},
              {"change", name_of(file.change)},
              {"size", file.size},
              {"mime", file.mime},
              {"version_id", file.version.with_prefix(prefix::version)},
              {"file_id", file.version.with_prefix("cfile_")},
              {"link", base_url + workspace::Links::path_of(file.version, file.path)}};
  if (!file.complete) out["incomplete"] = true;
  if (file.diverged) out["diverged"] = true;
  if (file.locked) out["locked"] = true;
  return out;
}

void add_files(ToolResult& result, const Execution& execution, const std::string& base_url) {
  Json files = Json::array();
  std::string lines;
  size_t count = 0;
  for (const auto& file : execution.files.kept) {
    if (file.change == interpreter::KeptChange::unchanged) continue;
    if (++count > kFilesMax) continue;
    files.push_back(file_json(file, base_url));
    lines.append("- ").append(markdown_link(file.version, file.path, base_url)).append(" ");
    lines.append(name_of(file.change)).append(", ").append(human_size(file.size));
    if (file.diverged) lines.append(", diverged: someone else changed it too, both are versions");
    if (file.locked) lines.append(", locked by someone else: kept as a version, not as the newest");
    if (!file.complete) lines.append(", still open");
    lines += '\n';
    if (result.blocks.size() < kLinksMax)
      result.blocks.push_back(link_block(file.version, file.path, file.mime, file.size, base_url));
  }
  if (count > kFilesMax)
    lines.append("- … and ").append(std::to_string(count - kFilesMax)).append(" more; use list_files\n");
  if (!lines.empty())
    result.text.append(result.text.empty() ? "" : "\n").append("Files kept:\n").append(lines);
  result.structured["files"] = std::move(files);
  Json not_kept = Json::array();
  for (const auto& item : execution.files.not_kept) {
    if (not_kept.size() == kFilesMax) break;
    result.text.append("Not kept: ")
        .append(as_code(item.path))
        .append(": ")
        .append(item.message.text())
        .append("\n");
    not_kept.push_back(
        {{"path", item.path}, {"reason", name_of(item.reason)}, {"message", item.message.text()}});
  }
  if (!not_kept.empty()) result.structured["not_kept"] = std::move(not_kept);
  if (size_t more = execution.files.left_out; more > 0)
    result.text.append(std::to_string(more))
        .append(" more names of folders and of renamed, deleted or not kept files are left out.\n");
}

void add_images(ToolResult& result, const Execution& execution) {
  size_t count = 0;
  for (const auto& output : execution.outputs) {
    const auto* bundle = interpreter::bundle_of(output);
    if (bundle == nullptr) continue;
    for (auto mime : {"image/png", "image/jpeg"}) {
      const auto* image = bundle->find(mime);
      if (image == nullptr || image->size() > kImageBase64Max) continue;
      if (++count > kImagesMax) return;
      Json block = {{"type", "image"}, {"data", *image}, {"mimeType", mime}};
      result.blocks.insert(result.blocks.begin() + static_cast<ptrdiff_t>(count - 1), std::move(block));
    }
  }
}

std::string ending_of(const Execution& execution) {
  if (execution.outcome == Outcome::ok) return {};
  if (execution.outcome == Outcome::error && execution.exit_code)
    return "Exit status " + std::to_string(*execution.exit_code) +
           "; variables and files are as the code left them.\n";
  if (execution.outcome == Outcome::error)
    return "The code raised an error; variables and files are as it left them.\n";
  std::string out = "The run ended early (" + std::string(outcome_name(execution)) + ")";
  out.append(execution.message.empty() ? "" : ": " + execution.message).append(".\n");
  return out;
}

}  // namespace

RunTexts run_texts(const Execution& execution) {
  RunTexts texts;
  interpreter::Visit take{
      [&](const interpreter::TextOutput& text) {
        (text.stream == interpreter::TextOutput::Stream::out ? texts.out : texts.err) += text.text;
      },
      [&](const interpreter::NoteOutput& note) { texts.notes += note.text.text() + "\n"; },
      [&](const interpreter::ErrorOutput& error) { texts.error = error.traceback; },
      [&](const auto& shown) {
        const auto* plain = shown.bundle.find("text/plain");
        bool is_image = shown.bundle.find("image/png") != nullptr;
        if (!is_image && plain != nullptr && !plain->empty())
          texts.result.append(texts.result.empty() ? "" : "\n").append(*plain);
      }};
  for (const auto& output : execution.outputs) std::visit(take, output);
  return texts;
}

ToolResult run_result(const Execution& execution, const std::string& base_url) {
  auto texts = run_texts(execution);
  ToolResult result;
  if (execution.woke) result.text += "The session was asleep: its files are there, its variables are lost.\n";
  add_block(result.text, "stdout:", shortened(texts.out));
  add_block(result.text, "result:", shortened(texts.result));
  add_block(result.text, "stderr:", shortened(texts.err));
  add_block(result.text, "error:", shortened(texts.error));
  result.text += texts.notes + ending_of(execution);
  result.structured = {{"session", execution.session.with_prefix(prefix::session)},
                       {"execution", execution.id.with_prefix(prefix::execution)},
                       {"end", outcome_name(execution)},
                       {"stdout", shortened(texts.out)},
                       {"stderr", shortened(texts.err)},
                       {"result", shortened(texts.result)},
                       {"error", shortened(texts.error)},
                       {"woke", execution.woke}};
  if (execution.exit_code) result.structured["exit_code"] = *execution.exit_code;
  add_files(result, execution, base_url);
  add_images(result, execution);
  if (result.text.empty()) result.text = "Done; no output.\n";
  result.text.append("\nsession: ").append(execution.session.with_prefix(prefix::session));
  result.is_error = execution.outcome != Outcome::ok;
  // Clients of Foundry's toolbox read the container id here.
  result.meta = {{"container_id", execution.session.with_prefix("cntr_")}};
  return result;
}

}  // namespace sk::api::mcp
