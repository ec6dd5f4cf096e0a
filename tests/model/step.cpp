#include "model/step.h"

#include <array>
#include <random>
#include <sstream>

namespace sk::model {

namespace {

std::string encode(const std::string& text) {
  if (text.empty()) return "-";
  std::string out;
  for (unsigned char c : text) {
    bool plain = std::isalnum(c) != 0 || c == '/' || c == '.' || c == '_';
    if (plain) {
      out += static_cast<char>(c);
    } else {
      constexpr const char* kDigits = "0123456789abcdef";
      out += '%';
      out += kDigits[c >> 4];
      out += kDigits[c & 15];
    }
  }
  return out;
}

std::string decode(const std::string& text) {
  if (text == "-") return "";
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%' && i + 2 < text.size() + 0) {
      out += static_cast<char>(std::stoi(text.substr(i + 1, 2), nullptr, 16));
      i += 2;
    } else {
      out += text[i];
    }
  }
  return out;
}

}  // namespace

std::string to_text(const Step& step) {
  return step.what + " " + std::to_string(step.writer) + (step.together ? "& " : ". ") + encode(step.path) +
         " " + encode(step.other) + " " + std::to_string(step.number) + " " + std::to_string(step.size);
}

std::string to_text(const History& history) {
  std::string out = "history " + std::to_string(history.seed) + " " + encode(history.folder) + "\n";
  for (const auto& step : history.steps) out += to_text(step) + "\n";
  return out;
}

History parse_history(const std::string& text) {
  History history;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string what;
    if (!(words >> what) || what == "#") continue;
    if (what == "history") {
      std::string folder;
      words >> history.seed >> folder;
      history.folder = decode(folder);
      continue;
    }
    Step step;
    std::string writer, path, other;
    words >> writer >> path >> other >> step.number >> step.size;
    step.what = what;
    step.writer = std::stoi(writer);
    step.together = writer.ends_with('&');
    step.path = decode(path);
    step.other = decode(other);
    history.steps.push_back(step);
  }
  return history;
}

std::string content(uint64_t number, uint64_t size) {
  std::string out(size, '\0');
  uint64_t state = number * 0x9E3779B97F4A7C15ull + 1;
  for (size_t i = 0; i < out.size(); ++i) {
    if (i % 8 == 0) {
      state ^= state << 13;
      state ^= state >> 7;
      state ^= state << 17;
    }
    out[i] = static_cast<char>('!' + ((state >> (i % 8 * 8)) & 0xff) % 90);
  }
  return out;
}

}  // namespace sk::model
