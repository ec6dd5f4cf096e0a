#include "http/event_reader.h"

#include <utility>

namespace sk::http {

void EventReader::add(std::string_view bytes) {
  while (!bytes.empty()) {
    if (std::exchange(after_return_, false) && bytes.front() == '\n') {
      bytes.remove_prefix(1);
      continue;
    }
    auto end = bytes.find_first_of("\r\n");
    line_ += bytes.substr(0, end);
    if (end == std::string_view::npos) return;
    after_return_ = bytes[end] == '\r';
    bytes.remove_prefix(end + 1);
    end_line();
  }
}

void EventReader::end() {
  end_line();
  dispatch();
}

void EventReader::end_line() {
  std::string_view line = line_;
  if (std::exchange(is_first_line_, false) && line.starts_with("\xef\xbb\xbf")) line.remove_prefix(3);
  if (line.empty()) {
    dispatch();
  } else {
    auto colon = line.find(':');
    auto field = line.substr(0, colon);
    auto value = colon == std::string_view::npos ? std::string_view() : line.substr(colon + 1);
    if (value.starts_with(' ')) value.remove_prefix(1);
    if (field == "id") {
      event_.id = value;
    } else if (field == "event") {
      event_.name = value;
    } else if (field == "data") {
      if (has_data_) event_.data += '\n';
      event_.data += value;
      has_data_ = true;
    }
  }
  line_.clear();
}

void EventReader::dispatch() {
  if (std::exchange(has_data_, false)) on_event_(event_);
  event_.name.clear();
  event_.data.clear();
}

}  // namespace sk::http
