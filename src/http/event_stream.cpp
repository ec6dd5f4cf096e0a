#include "http/event_stream.h"

#include <cstring>

#include "base/text.h"

namespace sk::http {

namespace {

// Unsent bytes of a stream that are not counted against the budget.
constexpr size_t kUncountedBytes = 64 << 10;

// Field values must fit on one line. A line break inside data becomes another data line, as the format
// requires.
std::string render(const EventStream::Event& event) {
  auto one_line = [](std::string text) {
    std::erase_if(text, [](char c) { return c == '\r' || c == '\n' || c == '\0'; });
    return text;
  };
  std::string out;
  if (!event.id.empty()) out += "id: " + one_line(event.id) + "\n";
  if (!event.name.empty()) out += "event: " + one_line(event.name) + "\n";
  if (event.retry_ms > 0) out += "retry: " + std::to_string(event.retry_ms) + "\n";
  std::string data;
  for (size_t i = 0; i < event.data.size(); ++i) {
    char c = event.data[i];
    bool pair = c == '\r' && i + 1 < event.data.size() && event.data[i + 1] == '\n';
    if (!pair) data += c == '\r' ? '\n' : c;
  }
  for (auto line : split(data, '\n')) out += "data: " + std::string(line) + "\n";
  return out + "\n";
}

}  // namespace

EventStream::EventStream(std::function<void()> on_close, AtStop at_stop)
    : impl_(std::make_unique<Impl>(std::move(on_close), at_stop)) {}

EventStream::~EventStream() = default;

bool EventStream::send(const Event& event) {
  auto text = render(event);
  MutexLock lock(impl_->mutex);
  return impl_->append(text);
}

void EventStream::close() {
  MutexLock lock(impl_->mutex);
  impl_->closed = true;
  impl_->wake_locked();
}

AtStop EventStream::at_stop() const { return impl_->at_stop; }

bool EventStream::closed() const {
  MutexLock lock(impl_->mutex);
  return impl_->closed;
}

size_t EventStream::unsent_bytes() const {
  MutexLock lock(impl_->mutex);
  return impl_->unsent.size();
}

EventStream::Impl::Taken EventStream::Impl::take(std::span<char> out, const std::function<bool()>& park,
                                                 std::function<void()> wake) {
  MutexLock lock(mutex);
  if (broken) return {Taken::Kind::broken};
  if (!unsent.empty()) {
    size_t size = std::min(out.size(), unsent.size());
    std::memcpy(out.data(), unsent.data(), size);
    unsent.erase(0, size);
    if (unsent.empty() && unsent.capacity() > kUncountedBytes) unsent = {};
    if (unsent.empty() && share) share->release();
    return {Taken::Kind::bytes, size};
  }
  if (closed) return {Taken::Kind::end};
  if (!park()) return {Taken::Kind::broken};
  wake_waiting = std::move(wake);
  return {Taken::Kind::nothing_yet};
}

void EventStream::Impl::heartbeat() {
  MutexLock lock(mutex);
  if (unsent.empty()) append(":\n\n");
}

void EventStream::Impl::break_off() {
  MutexLock lock(mutex);
  give_up_locked();
  share.reset();
}

void EventStream::Impl::begin(MemoryBudget& budget, std::string client, size_t bytes_max) {
  MutexLock lock(mutex);
  share.emplace(budget);
  owner = std::move(client);
  unsent_max = bytes_max;
  if (!has_room(unsent.size())) give_up_locked();
}

bool EventStream::Impl::has_room(size_t bytes) {
  return bytes <= unsent_max && (bytes <= kUncountedBytes || !share || share->cover(bytes, owner));
}

void EventStream::Impl::give_up_locked() {
  closed = broken = true;
  unsent = {};
  if (share) share->release();
  wake_locked();
}

bool EventStream::Impl::append(std::string_view text) {
  if (closed) return false;
  if (!has_room(unsent.size() + text.size())) {
    // The client is too slow. Drop unsent events with the connection; the client resumes with Last-Event-ID.
    give_up_locked();
    return false;
  }
  unsent += text;
  wake_locked();
  return true;
}

void EventStream::Impl::wake_locked() {
  if (auto wake = std::exchange(wake_waiting, {})) wake();
}

}  // namespace sk::http
