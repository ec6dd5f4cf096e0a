#include "interpreter/run/output.h"

namespace sk::interpreter {

namespace {

void add_bundle(Json& out, const Bundle& bundle) {
  if (!bundle.file.empty()) out["file"] = bundle.file;
  Json data = Json::object();
  for (const auto& [mime, content] : bundle.data) data[mime] = content;
  out["data"] = std::move(data);
  if (bundle.is_cut) out["cut"] = cut_message();
}

Bundle bundle_from(const Json& json) {
  Bundle bundle;
  bundle.file = json.value("file", "");
  const Json data = json.value("data", Json::object());
  for (const auto& [mime, content] : data.items())
    if (content.is_string()) bundle.data.emplace_back(mime, content.get<std::string>());
  bundle.is_cut = json.contains("cut");
  return bundle;
}

}  // namespace

const std::string* Bundle::find(std::string_view mime) const {
  for (const auto& [kind, content] : data)
    if (kind == mime) return &content;
  return nullptr;
}

void Bundle::set(std::string_view mime, std::string content) {
  for (auto& [kind, old] : data)
    if (kind == mime) {
      old = std::move(content);
      return;
    }
  data.emplace_back(mime, std::move(content));
}

void append(Outputs& outputs, Output output) {
  auto* text = std::get_if<TextOutput>(&output);
  auto* last = outputs.empty() ? nullptr : std::get_if<TextOutput>(&outputs.back());
  if (text != nullptr && last != nullptr && last->stream == text->stream)
    last->text += text->text;
  else
    outputs.push_back(std::move(output));
}

const Bundle* bundle_of(const Output& output) {
  if (auto* display = std::get_if<DisplayOutput>(&output)) return &display->bundle;
  if (auto* result = std::get_if<ResultOutput>(&output)) return &result->bundle;
  return nullptr;
}

Bundle* bundle_of(Output& output) { return const_cast<Bundle*>(bundle_of(std::as_const(output))); }

const ErrorOutput* error_in(const Outputs& outputs) {
  for (auto output = outputs.rbegin(); output != outputs.rend(); ++output)
    if (auto* error = std::get_if<ErrorOutput>(&*output)) return error;
  return nullptr;
}

std::string_view cut_message() { return "this output is larger than an answer may be"; }

std::string_view name_of(TextOutput::Stream stream) {
  return stream == TextOutput::Stream::out ? "stdout" : "stderr";
}

Json to_json(const Output& output) {
  return std::visit(
      Visit{[](const TextOutput& text) { return Json{{"type", name_of(text.stream)}, {"text", text.text}}; },
            [](const DisplayOutput& display) {
              Json out = {{"type", "display"}};
              if (!display.id.empty()) out["display_id"] = display.id;
              if (display.is_update) out["update"] = true;
              add_bundle(out, display.bundle);
              return out;
            },
            [](const ResultOutput& result) {
              Json out = {{"type", "result"}, {"count", result.count}};
              add_bundle(out, result.bundle);
              return out;
            },
            [](const ErrorOutput& error) {
              return Json{{"type", "error"},
                          {"name", error.name},
                          {"value", error.value},
                          {"traceback", error.traceback}};
            },
            [](const NoteOutput& note) { return Json{{"type", "note"}, {"text", note.text.text()}}; }},
      output);
}

Json to_json(const Outputs& outputs) {
  Json list = Json::array();
  for (const auto& output : outputs) list.push_back(to_json(output));
  return list;
}

Output output_from(const Json& json) {
  auto type = json.value("type", "");
  if (type == "stdout") return TextOutput{TextOutput::Stream::out, json.value("text", "")};
  if (type == "stderr") return TextOutput{TextOutput::Stream::err, json.value("text", "")};
  if (type == "display")
    return DisplayOutput{json.value("display_id", ""), json.value("update", false), bundle_from(json)};
  if (type == "result") return ResultOutput{json.value("count", uint64_t{0}), bundle_from(json)};
  if (type == "error")
    return ErrorOutput{json.value("name", ""), json.value("value", ""), json.value("traceback", "")};
  return NoteOutput{json.value("text", "")};
}

Outputs outputs_from(const Json& json) {
  Outputs outputs;
  for (const auto& one : json) outputs.push_back(output_from(one));
  return outputs;
}

}  // namespace sk::interpreter
