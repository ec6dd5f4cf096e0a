// Reads server-sent events (text/event-stream), the counterpart of EventStream. Pure; one thread.
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace sk::http {

// Takes the bytes in pieces of any size. Accepts all line endings and skips comments.
class EventReader {
 public:
  struct Event {
    std::string id;    // the last one that the stream named, maybe with an earlier event
    std::string name;  // may be empty
    std::string data;  // several lines of data are joined by line breaks
  };
  // An event without a line of data is not reported.
  explicit EventReader(std::function<void(const Event&)> on_event) : on_event_(std::move(on_event)) {}

  void add(std::string_view bytes);
  // The stream has ended. A last event without its empty line counts.
  void end();

 private:
  void end_line();
  void dispatch();

  const std::function<void(const Event&)> on_event_;
  std::string line_;
  Event event_;
  bool has_data_ = false;
  bool is_first_line_ = true;
  bool after_return_ = false;  // a line feed would belong to the carriage return before it
};

}  // namespace sk::http
