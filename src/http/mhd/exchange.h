// One request and its reply, from the first header to the last byte. The loop thread calls in when data
// arrives or can be sent. Anything that could block runs as a job on the worker pool while the connection is
// parked (suspended). Internal to this room.
//
// Shared ownership: the loop holds one reference until the request has ended. Jobs and deferred replies hold
// others, because a client may disconnect while a job runs.
#pragma once

#include <microhttpd.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "http/mhd/core.h"
#include "http/mhd/upload.h"
#include "http/request_head.h"

namespace sk::http {

class Exchange : public std::enable_shared_from_this<Exchange> {
 public:
  Exchange(Core& core, Connection& connection, MHD_Connection* handle, std::string target);
  ~Exchange();

  // Loop thread: libmicrohttpd's access handler. MHD_NO closes the connection.
  MHD_Result on_call(const char* method, const char* version, const char* data, size_t* size);
  // Loop thread, last call: the reply is sent, or the connection is lost.
  void on_completed(MHD_RequestTerminationCode how);

  // Loop thread: suspends the connection until unpark(). Returns false when the server is closing; the caller
  // then closes the connection.
  bool park();
  // Parks from within on_call(), before there is a reply.
  bool park_request();
  // Resumes the connection. Any thread, once per park(). Afterwards the caller may use this object only if it
  // holds its own reference.
  void unpark();

  // Any thread: runs a job on a worker, in the turn of the request's client.
  void submit(std::function<void()> job) { core_.pool.submit_always(turn_, std::move(job)); }

  Core& core() { return core_; }
  int socket() const { return connection_.fd; }
  void count_sent(uint64_t bytes) { sent_bytes_ += bytes; }

 private:
  friend class Upload;
  friend class UnreadHeads;

  // Loop thread.
  MHD_Result go_on(const char* method, const char* version, const char* data, size_t* size);
  MHD_Result on_head(const char* method, const char* version);
  MHD_Result on_body(std::string_view bytes, size_t* left);
  MHD_Result on_request_complete();
  void read_head(const char* method, const char* version);
  void identify_client();
  const Router::Route* route();
  void count_for_address(const Router::Route* route);
  bool gathers() const;
  MHD_Result open_body();
  MHD_Result take_gathered(std::string_view bytes);
  MHD_Result refuse_in_body(const Error& error);
  MHD_Result reply_at_once();
  bool is_too_slow() const;
  void make_room(uint64_t bytes);
  MHD_Result refuse();
  MHD_Result refuse_in_body();
  MHD_Result queue_reply();
  void go_on_before_reading(bool before);
  void start_events(std::shared_ptr<EventStream> stream);
  static void schedule_heartbeat(Core& core, const std::weak_ptr<EventStream>& stream);
  void log_and_count(MHD_RequestTerminationCode how);

  // Worker threads, connection parked.
  void run_handler();
  Reply run_gathered();
  void run_opening();
  void settle(Reply reply);
  void await(std::shared_ptr<Deferred> deferred);
  void give_up(const std::shared_ptr<Deferred>& deferred, SocketWatcher::Event event);
  bool deliver(const std::shared_ptr<Deferred>& deferred, Reply reply);

  // Any thread that owns the outcome at that time.
  Reply reply_to(const std::exception_ptr& failure);
  void set_reply(Reply reply);
  void hold_memory_of(Reply& reply);
  // Answers in the middle of the body, bypassing libmicrohttpd. Does nothing if the rest of the body is small
  // enough to read. Call on the loop thread or under the upload's mutex.
  void answer_at_once(uint64_t received_bytes);
  void send_raw();
  void abandon();

  Core& core_;
  Connection& connection_;
  MHD_Connection* const handle_;
  Request request_;
  Id credential_;  // names the key or address of the request
  Id turn_;        // names the client among those that share the workers; constant after read_head()

  // Loop thread only.
  enum class Stage { head, opening, body, handling } stage_ = Stage::head;
  Framing framing_;
  const Router::Route* route_ = nullptr;
  bool before_reading_ = false;  // see go_on_before_reading()
  bool discarding_ = false;      // the rest of the body is read and dropped
  uint64_t received_bytes_ = 0;
  uint64_t discarded_bytes_ = 0;
  uint64_t sent_bytes_ = 0;
  const std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
  int status_ = 0;
  std::shared_ptr<EventStream> events_;

  MemoryBudget::Share reply_share_;
  MemoryBudget::Share body_share_;  // used by the loop, and by a job while the connection is parked

  // Written by a job while the connection is parked or under the upload's mutex; read by the loop afterwards.
  std::optional<Reply> reply_;
  std::shared_ptr<void> held_;  // Reply::held; not in reply_, because a deferred reply is followed by another
  bool abandoned_ = false;
  bool answered_raw_ = false;  // the reply was sent in the middle of the body, bypassing libmicrohttpd
  SocketWatcher::Id watch_ = 0;

  std::unique_ptr<Upload> upload_;
};

}  // namespace sk::http
