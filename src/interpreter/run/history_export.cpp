#include "interpreter/run/history_export.h"

#include <fcntl.h>

#include <cerrno>
#include <deque>

#include "base/error.h"
#include "base/text.h"

namespace sk::interpreter {

namespace {

// Notebooks store text as a list of lines, each with its line end.
Json lines_of(const std::string& text) {
  Json lines = Json::array();
  for (size_t at = 0; at < text.size();) {
    size_t end = text.find('\n', at);
    end = end == std::string::npos ? text.size() : end + 1;
    lines.push_back(text.substr(at, end - at));
    at = end;
  }
  return lines;
}

// Base64 stays one string, JSON stays JSON, text becomes lines.
Json mime_data(const Bundle& bundle) {
  Json out = Json::object();
  for (const auto& [mime, content] : bundle.data) {
    bool is_image = mime.starts_with("image/") && mime != "image/svg+xml";
    if (is_image) {
      out[mime] = content;
    } else if (mime.ends_with("json") && Json::accept(content)) {
      out[mime] = Json::parse(content);
    } else {
      out[mime] = lines_of(content);
    }
  }
  return out;
}

Json stream_output(std::string_view name, const std::string& text) {
  return {{"output_type", "stream"}, {"name", name}, {"text", lines_of(text)}};
}

Json shown_output(std::string_view type, const Bundle& bundle) {
  Json metadata = Json::object();
  if (!bundle.file.empty()) metadata["sandkeep"] = {{"file", bundle.file}};
  return {{"output_type", type}, {"data", mime_data(bundle)}, {"metadata", metadata}};
}

Json notebook_output(const Execution& execution, const Output& output) {
  return std::visit(
      Visit{[](const TextOutput& text) { return stream_output(name_of(text.stream), text.text); },
            [](const NoteOutput& note) { return stream_output("stderr", note.text.text() + "\n"); },
            [](const ErrorOutput& error) {
              return Json{{"output_type", "error"},
                          {"ename", error.name},
                          {"evalue", error.value},
                          {"traceback", split(error.traceback, '\n')}};
            },
            [](const DisplayOutput& display) { return shown_output("display_data", display.bundle); },
            [&](const ResultOutput& result) {
              Json out = shown_output("execute_result", result.bundle);
              out["execution_count"] = execution.number;
              return out;
            }},
      output);
}

// Notebooks have a bash magic, so that Jupyter can run the cell too.
std::string cell_source(const Execution& execution) {
  return execution.language == "bash" ? "%%bash\n" + execution.code : execution.code;
}

// How an execution ended, where its outputs alone do not show it.
std::string remark_of(const Execution& execution) {
  auto outcome = execution.outcome;
  if (!outcome || outcome == Outcome::ok || outcome == Outcome::error) return {};
  return (outcome == Outcome::interrupted ? "" : "ended by ") + std::string(name_of(*outcome)) +
         (execution.message.empty() ? "" : ": " + execution.message);
}

std::string as_comment(const std::string& text) {
  std::string out;
  for (auto line : split(text, '\n')) {
    out += line.empty() ? "#" : "# ";
    out += line;
    out += '\n';
  }
  return out;
}

std::string notebook_head(const SessionInfo& session) {
  Json head = {{"nbformat", 4},
               {"nbformat_minor", 5},
               {"metadata",
                {{"kernelspec", {{"name", "python3"}, {"display_name", "Python 3"}, {"language", "python"}}},
                 {"language_info", {{"name", "python"}}},
                 {"sandkeep", {{"session", session.name}, {"folder", session.folder}}}}}};
  std::string text = to_text(head);
  text.pop_back();  // the list of cells follows
  return text + ",\"cells\":[\n";
}

std::string script_head(const SessionInfo& session) {
  return "#!/usr/bin/env python3\n# -*- coding: utf-8 -*-\n" +
         as_comment("Code of the session " + session.name + ".") + "\n";
}

bool is_broken_python(const Execution& execution) {
  const auto* error = error_in(execution.outputs);
  return error != nullptr &&
         (error->name == "SyntaxError" || error->name == "IndentationError" || error->name == "TabError");
}

// Plain Python stays unchanged. Code that needs IPython is passed to it as a string, so that the file stays a
// valid program.
std::string script_cell(const Execution& execution) {
  std::string out =
      "# %% [" + std::to_string(execution.number) + "] " + to_iso8601(execution.created_us) + "\n";
  if (auto remark = remark_of(execution); !remark.empty()) out += as_comment(remark);
  if (execution.outcome == Outcome::error) out += "# This cell failed.\n";
  bool magic = execution.language == "bash";
  for (auto line : split(execution.code, '\n')) {
    auto start = trim(line);
    magic = magic || start.starts_with('%') || start.starts_with('!') || start.starts_with('?') ||
            start.ends_with('?') || start.starts_with("await ");
  }
  if (is_broken_python(execution))
    out += as_comment(execution.code);
  else if (magic)
    out += "# This cell needs IPython: run this file with ipython.\nget_ipython().run_cell(" +
           to_text(Json(cell_source(execution))) + ")\n";
  else
    out += execution.code + (execution.code.ends_with('\n') ? "" : "\n");
  return out + "\n";
}

}  // namespace

Json notebook_cell(const Execution& execution) {
  Json outputs = Json::array();
  for (const auto& output : execution.outputs) {
    const auto* display = std::get_if<DisplayOutput>(&output);
    if (display == nullptr || !display->is_update) outputs.push_back(notebook_output(execution, output));
  }
  if (auto remark = remark_of(execution); !remark.empty())
    outputs.push_back({{"output_type", "stream"}, {"name", "stderr"}, {"text", lines_of(remark + "\n")}});
  return {{"cell_type", "code"},
          {"id", execution.id.hex()},
          {"execution_count", execution.number},
          {"metadata", Json::object()},
          {"source", lines_of(cell_source(execution))},
          {"outputs", outputs}};
}

ExportedHistory export_history(const SessionInfo& session, ExportFormat format, const std::string& directory,
                               const std::function<std::optional<Execution>()>& next) {
  int fd = ::open(directory.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (fd < 0) throw system_error("cannot make a temporary file in " + directory, errno);
  ExportedHistory out{std::make_shared<Fd>(fd), 0};
  auto write = [&](const std::string& text) {
    write_all(out.file->get(), as_bytes(text), "an exported history");
    out.size += text.size();
  };
  bool notebook = format == ExportFormat::notebook;
  write(notebook ? notebook_head(session) : script_head(session));
  bool first = true;
  while (auto execution = next()) {
    if (notebook)
      write((first ? "" : ",\n") + to_text(notebook_cell(*execution)));
    else
      write(script_cell(*execution));
    first = false;
  }
  if (notebook) write("\n]}\n");
  return out;
}

ExportedHistory export_history(const SessionInfo& session, ExportFormat format, const std::string& directory,
                               const PageAfter& page_after) {
  constexpr size_t kPage = 4;  // each may have a full output
  int64_t at = 0;
  std::deque<Execution> page;
  return export_history(session, format, directory, [&]() -> std::optional<Execution> {
    if (page.empty()) {
      for (auto& execution : page_after(at, kPage)) page.push_back(std::move(execution));
      if (page.empty()) return std::nullopt;
      at = page.back().number;
    }
    Execution next = std::move(page.front());
    page.pop_front();
    return next;
  });
}

}  // namespace sk::interpreter
