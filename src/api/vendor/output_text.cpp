#include "api/vendor/output_text.h"

namespace sk::api {

namespace {

// A line of its own, whatever stands before it.
void add_line(std::string& text, std::string_view line) {
  if (line.empty()) return;
  if (!text.empty() && text.back() != '\n') text += '\n';
  text += line;
  text += '\n';
}

void take_bundle(const Json& output, OutputText& out) {
  const Json& data = output.at("data");
  for (const auto& [mime, content] : data.items()) {
    if (!mime.starts_with("image/") || mime == "image/svg+xml" || !content.is_string()) continue;
    out.image = ShownImage{mime, content.get<std::string>(), output.value("file", "")};
  }
  auto text = data.find("text/plain");
  if (output.at("type") == "result" && text != data.end() && text->is_string())
    out.value = text->get<std::string>();
  if (output.contains("cut")) add_line(out.errors, output.at("cut").get<std::string>());
}

}  // namespace

OutputText output_text(const interpreter::Execution& execution) {
  OutputText out;
  for (const Json& output : execution.outputs) {
    const auto& type = output.at("type").get_ref<const std::string&>();
    if (type == "stdout") out.printed += output.at("text").get_ref<const std::string&>();
    if (type == "stderr") out.errors += output.at("text").get_ref<const std::string&>();
    if (type == "note") add_line(out.errors, output.at("text").get_ref<const std::string&>());
    if (type == "result" || type == "display") take_bundle(output, out);
    if (type == "error") {
      out.error_name = output.at("name").get<std::string>();
      out.error_value = output.at("value").get<std::string>();
      add_line(out.errors, output.at("traceback").get_ref<const std::string&>());
    }
  }
  for (const auto& item : execution.files.not_kept)
    add_line(out.errors, "not kept: " + item.path + ": " + item.message);
  add_line(out.errors, execution.message);
  return out;
}

std::string cut_text(std::string_view text, size_t bytes_max) {
  if (text.size() <= bytes_max) return std::string(text);
  while (bytes_max > 0 && (static_cast<unsigned char>(text[bytes_max]) & 0xC0) == 0x80) --bytes_max;
  return std::string(text.substr(0, bytes_max));
}

}  // namespace sk::api
