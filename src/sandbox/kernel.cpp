#include "sandbox/kernel.h"

#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>

#include "base/error.h"
#include "base/hash.h"
#include "base/text.h"
#include "sandbox/kernel_messages.h"
#include "sandbox/steady.h"

namespace sk::sandbox {

namespace {

// Work budget of one session per time slice. The output of a tight print loop is read in a few large pieces
// instead of thousands of small ones, and cannot starve other sessions.
constexpr int64_t kSliceUs = 20'000;
constexpr int64_t kRestMinUs = 1'000;
constexpr size_t kWakesPerSlice = 32;
constexpr size_t kFramesPerSlice = 256;
constexpr size_t kBytesPerSlice = 4 << 20;

constexpr size_t kReadBytes = 64 << 10;
constexpr size_t kOrderBytesMax = 2 << 20;  // more than the largest pipe buffer
constexpr size_t kRequestsMax = 64;

}  // namespace

const MimeBundle::Part* MimeBundle::find(std::string_view mime) const {
  for (const auto& part : parts)
    if (part.mime == mime) return &part;
  return nullptr;
}

// One of the two pipes.
struct Kernel::Source {
  Source(Stream which, int descriptor, std::string_view word) : stream(which), fd(descriptor), text(word) {}
  const Stream stream;
  const int fd;
  MarkedOutput text;
  bool open = true;
};

Kernel::Kernel(std::unique_ptr<Session> session, KernelEvents& events)
    : session_(std::move(session)), events_(events), epoll_(::epoll_create1(EPOLL_CLOEXEC)) {
  if (!epoll_) throw system_error("cannot make an epoll descriptor", errno);
  std::string word = random_base64url(12);
  output_ = std::make_unique<Source>(Stream::output, session_->output_fd(), word);
  errors_ = std::make_unique<Source>(Stream::errors, session_->errors_fd(), word);
  watch(session_->ended_fd(), EPOLLIN);
  send({{"t", "configure"}, {"word", word}});
  refresh_watches();
}

Kernel::~Kernel() = default;

void Kernel::configure(const std::vector<std::pair<std::string, std::string>>& environment) {
  Json variables = Json::object();
  for (const auto& [name, value] : environment) variables[name] = value;
  send({{"t", "configure"}, {"env", std::move(variables)}});
}

void Kernel::execute(const std::string& id, std::string_view code, Language language,
                     std::string_view tools) {
  if (is_running()) throw Error(Code::conflict, "a cell is running in this session");
  if (!is_utf8(code)) throw Error(Code::bad_request, "the code is not UTF-8");
  if (has_ended_) throw Error(Code::conflict, "the session has ended");
  Json command = {{"t", "execute"},
                  {"id", id},
                  {"language", language == Language::bash ? "bash" : "python"},
                  {"code", code}};
  if (!tools.empty()) command["tools"] = tools;
  send(command);
  running_id_ = id;
}

void Kernel::interrupt() {
  if (is_running()) session_->interrupt();
}

void Kernel::reply(uint64_t request_id, const Json& value) {
  if (std::ranges::find(requests_, request_id) == requests_.end()) return;
  // A reply that is too large throws, and the request can still be refused.
  send({{"t", "reply"}, {"id", request_id}, {"ok", true}, {"value", value}});
  std::erase(requests_, request_id);
}

void Kernel::refuse(uint64_t request_id, std::string_view code, std::string_view message) {
  if (std::erase(requests_, request_id) == 0) return;
  send(
      {{"t", "reply"}, {"id", request_id}, {"ok", false}, {"error", {{"code", code}, {"message", message}}}});
}

void Kernel::pause_output() {
  paused_ = true;
  refresh_watches();
}

void Kernel::resume_output() {
  paused_ = false;
  refresh_watches();
}

void Kernel::send(const Json& message) {
  if (!channel_open_ || has_ended_) return;
  pending_ += make_frame(to_text(message));
  write_pending();
  refresh_watches();
}

void Kernel::write_pending() {
  size_t sent = 0;
  while (sent < pending_.size()) {
    auto count = ::send(session_->channel_fd(), pending_.data() + sent, pending_.size() - sent,
                        MSG_NOSIGNAL | MSG_DONTWAIT);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && errno == EAGAIN) break;
    if (count < 0) {
      sent = pending_.size();  // the peer no longer reads
      break;
    }
    sent += static_cast<size_t>(count);
  }
  pending_.erase(0, sent);
}

void Kernel::on_ready() {
  if (has_ended_) return;
  if (resting_ && steady_us() >= slice_ends_us_) go_on();
  bool ended = session_->wait_ended(0);
  try {
    write_pending();
    if (!resting_ && !ended) {
      ++wakes_in_slice_;
      read_channel();
      if (!paused_) {
        read_output(*output_, kReadBytes);
        read_output(*errors_, kReadBytes);
      }
    }
    if (ended) end_session();
  } catch (const Error& error) {
    channel_open_ = false;
    session_->kill(End::protocol, error.message());
  }
  rest_if_busy();
  refresh_watches();
}

void Kernel::read_channel() {
  char buffer[kReadBytes];
  while (channel_open_ && frames_in_slice_ < kFramesPerSlice && bytes_in_slice_ < kBytesPerSlice) {
    while (frames_in_slice_ < kFramesPerSlice) {
      auto text = frames_.next();
      if (!text) break;
      ++frames_in_slice_;
      handle(parse_kernel_frame(*text));
    }
    auto count = ::recv(session_->channel_fd(), buffer, sizeof buffer, MSG_DONTWAIT);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && errno == EAGAIN) return;
    if (count <= 0) {
      // Its main process has ended, or code closed the descriptor, in which case a timeout ends the session.
      channel_open_ = false;
      return;
    }
    bytes_in_slice_ += static_cast<size_t>(count);
    frames_.append(std::string_view(buffer, static_cast<size_t>(count)));
  }
}

void Kernel::read_output(Source& source, size_t bytes_max) {
  char buffer[kReadBytes];
  for (size_t total = 0; source.open && !source.text.holds_mark() && total < bytes_max;) {
    auto count = ::read(source.fd, buffer, sizeof buffer);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && errno == EAGAIN) break;
    if (count <= 0) {
      source.open = false;
      break;
    }
    total += static_cast<size_t>(count);
    bytes_in_slice_ += static_cast<size_t>(count);
    source.text.append(std::string_view(buffer, static_cast<size_t>(count)));
    emit(source, source.text.take());
  }
}

// Delivers the output printed before the frame with this mark.
void Kernel::order_output(uint64_t mark) {
  for (Source* source : {output_.get(), errors_.get()}) {
    read_output(*source, kOrderBytesMax);
    emit(*source, source->text.pass(mark));
  }
}

void Kernel::emit(Source& source, std::string text) {
  if (!text.empty()) events_.on_output(source.stream, text);
}

void Kernel::handle(const Json& frame) {
  std::string kind = text_field(frame, "t");
  if (uint64_t mark = number_field(frame, "mark")) order_output(mark);
  if (kind == "done") {
    finish(frame);
  } else if (kind == "display") {
    events_.on_display({parse_bundle(frame), text_field(frame, "display_id"), flag_field(frame, "update")});
  } else if (kind == "result") {
    events_.on_result({parse_bundle(frame), number_field(frame, "count")});
  } else if (kind == "error") {
    events_.on_error(parse_error(frame));
  } else if (kind == "clear") {
    events_.on_clear_output();
  } else if (kind == "request") {
    auto request = parse_request(frame);
    if (requests_.size() >= kRequestsMax)
      throw Error(Code::bad_request, "too many requests from a session at once");
    requests_.push_back(request.id);
    events_.on_request(std::move(request));
  } else if (kind != "order") {
    throw Error(Code::bad_request, "a frame of an unknown kind from a session");
  }
}

void Kernel::finish(const Json& frame) {
  auto done = parse_done(frame);
  if (!is_running() || done.id != running_id_) return;  // forged by code in the session
  running_id_.clear();
  events_.on_done(std::move(done));
}

// Delivers the remaining data. No process is left, so the channel and the pipes contain all that will come.
void Kernel::end_session() {
  try {
    frames_in_slice_ = bytes_in_slice_ = 0;
    while (channel_open_) {
      size_t before = frames_in_slice_ + bytes_in_slice_;
      read_channel();
      if (frames_in_slice_ + bytes_in_slice_ == before) break;
      frames_in_slice_ = bytes_in_slice_ = 0;
    }
  } catch (const Error&) {
    // An incomplete or invalid frame at the end does not matter: the session has ended.
  }
  for (Source* source : {output_.get(), errors_.get()}) {
    while (source->open) {
      emit(*source, source->text.flush());
      read_output(*source, kReadBytes);
    }
    emit(*source, source->text.flush());
  }
  has_ended_ = true;
  running_id_.clear();
  for (int fd : {session_->ended_fd(), session_->channel_fd(), output_->fd, errors_->fd}) watch(fd, 0);
  events_.on_ended(*session_->outcome());
}

// Pauses the session until the next slice when it exceeds its budget.
void Kernel::rest_if_busy() {
  if (resting_ || has_ended_) return;
  auto now_us = steady_us();
  bool busy = wakes_in_slice_ >= kWakesPerSlice || frames_in_slice_ >= kFramesPerSlice ||
              bytes_in_slice_ >= kBytesPerSlice;
  if (now_us >= slice_ends_us_) {
    slice_ends_us_ = now_us + (busy ? kRestMinUs : kSliceUs);
    wakes_in_slice_ = frames_in_slice_ = bytes_in_slice_ = 0;
  }
  if (!busy) return;
  resting_ = true;
  if (!timer_) {
    timer_ = Fd(::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK));
    if (!timer_) throw system_error("cannot make a timer", errno);
  }
  itimerspec when{};
  when.it_value.tv_nsec = std::clamp(slice_ends_us_ - now_us, kRestMinUs, kSliceUs) * 1000;
  ::timerfd_settime(timer_.get(), 0, &when, nullptr);
  watch(timer_.get(), EPOLLIN);
}

void Kernel::go_on() {
  resting_ = false;
  wakes_in_slice_ = frames_in_slice_ = bytes_in_slice_ = 0;
  watch(timer_.get(), 0);
}

void Kernel::refresh_watches() {
  if (has_ended_) return;
  uint32_t channel = (channel_open_ && !resting_ ? EPOLLIN : 0u) | (pending_.empty() ? 0u : EPOLLOUT);
  watch(session_->channel_fd(), channel);
  for (Source* source : {output_.get(), errors_.get()}) {
    bool wanted = source->open && !resting_ && !paused_ && !source->text.holds_mark();
    watch(source->fd, wanted ? EPOLLIN : 0u);
  }
}

// Zero events removes the descriptor: epoll always reports hang-ups.
void Kernel::watch(int fd, uint32_t events) {
  uint32_t& current = watched_[fd];
  if (current == events) return;
  epoll_event event{};
  event.events = events;
  event.data.fd = fd;
  int operation = current == 0 ? EPOLL_CTL_ADD : events == 0 ? EPOLL_CTL_DEL : EPOLL_CTL_MOD;
  if (::epoll_ctl(epoll_.get(), operation, fd, &event) != 0)
    throw system_error("cannot watch a descriptor", errno);
  current = events;
}

}  // namespace sk::sandbox
