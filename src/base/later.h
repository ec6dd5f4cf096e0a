// The result of work that may have to wait: no thread waits for it. The worker holds the Promise, the caller
// the Later.
//
//   Later<Lease> lease = registry.acquire(session);
//   return std::move(lease).map([](Lease held) { return use(held); });
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "base/error.h"
#include "base/log.h"
#include "base/mutex.h"

namespace sk {

// The result of work that returns nothing.
struct Done {};

// A value, or the Error of the work that failed.
template <class T>
class Result {
 public:
  Result(T value) : content_(std::in_place_index<0>, std::move(value)) {}
  Result(Error error) : content_(std::in_place_index<1>, std::move(error)) {}

  // Null when the work succeeded.
  const Error* error() const { return std::get_if<1>(&content_); }
  // Moves the value out. Throws the Error.
  T take() {
    if (error() != nullptr) throw Error(*error());
    return std::move(std::get<0>(content_));
  }

 private:
  std::variant<T, Error> content_;
};

// The value that `f` returns, or the Error that it throws.
template <class R, class F>
Result<R> result_of(F&& f) {
  try {
    return Result<R>(f());
  } catch (const Error& error) {
    return Result<R>(error);
  } catch (const std::exception& error) {
    log::error("work that a caller waits for failed", {{"reason", error.what()}});
    return Result<R>(Error(Code::internal, "Internal error of the server; its log has the details."));
  }
}

template <class T>
class Promise;

// Any thread. Copies are the same Later. A Later that is destroyed does not stop the work.
template <class T>
class [[nodiscard]] Later {
 public:
  using Value = T;

  // Known at once.
  Later(T value) : Later(Result<T>(std::move(value))) {}
  Later(Error error) : Later(Result<T>(std::move(error))) {}

  bool known() const {
    MutexLock lock(state_->mutex);
    return state_->result.has_value();
  }
  // Calls `then` once: at once on this thread if the result is known, else on the thread that ends the work.
  // `then` must not throw. Of then(), map(), chain() and get(), one is called, once.
  void then(std::function<void(Result<T>)> then) const {
    std::optional<Result<T>> result;
    {
      MutexLock lock(state_->mutex);
      if (!state_->result) {
        state_->then = std::move(then);
        return;
      }
      result.swap(state_->result);
    }
    then(std::move(*result));
  }
  // The result of `f`, applied to the value. An Error of the work or of `f` is the result instead.
  template <class F>
  auto map(F f) const -> Later<std::invoke_result_t<F&, T>>;
  // The same for an `f` that returns a Later.
  template <class F>
  auto chain(F f) const -> std::invoke_result_t<F&, T>;
  // Drops work that still waits to begin: true if so, and `then` is never called. Other work continues.
  bool give_up() const {
    std::function<bool()> drop;
    {
      MutexLock lock(state_->mutex);
      drop = state_->on_give_up;
    }
    if (!drop || !drop()) return false;
    // The callbacks hold each other's state; nobody calls them any more.
    std::function<void(Result<T>)> then;
    std::function<bool()> dropped;
    MutexLock lock(state_->mutex);
    state_->is_set = true;
    then.swap(state_->then);
    dropped.swap(state_->on_give_up);
    return true;
  }
  // Waits. Throws the Error. Only for the start and the stop of the server, and for tests.
  T get() const {
    MutexLock lock(state_->mutex);
    state_->is_known.wait(lock, [this]() SK_REQUIRES(state_->mutex) { return state_->result.has_value(); });
    return state_->result->take();
  }

 private:
  friend class Promise<T>;
  struct State {
    Mutex mutex;
    ConditionVariable is_known;
    bool is_set SK_GUARDED_BY(mutex) = false;
    std::optional<Result<T>> result SK_GUARDED_BY(mutex);
    std::function<void(Result<T>)> then SK_GUARDED_BY(mutex);
    std::function<bool()> on_give_up SK_GUARDED_BY(mutex);
  };

  Later() : state_(std::make_shared<State>()) {}
  explicit Later(Result<T> result) : Later() {
    MutexLock lock(state_->mutex);
    state_->is_set = true;
    state_->result.emplace(std::move(result));
  }

  std::shared_ptr<State> state_;  // shared with the Promise
};

// Any thread. Copies are the same Promise.
template <class T>
class Promise {
 public:
  Later<T> later() const { return later_; }

  // Gives the result. The first one counts.
  void set(Result<T> result) const {
    auto& state = *later_.state_;
    std::function<void(Result<T>)> then;
    std::function<bool()> dropped;  // destroyed after the mutex is released, as it may own other state
    {
      MutexLock lock(state.mutex);
      if (std::exchange(state.is_set, true)) return;
      dropped.swap(state.on_give_up);
      then.swap(state.then);
      if (!then) {
        state.result.emplace(std::move(result));
        state.is_known.notify_all();
        return;
      }
    }
    then(std::move(result));
  }
  // `drop` runs when the caller gives up before the result. It returns whether it has dropped the work; it
  // then calls drop() itself.
  void on_give_up(std::function<bool()> drop) const {
    MutexLock lock(later_.state_->mutex);
    if (!later_.state_->is_set) later_.state_->on_give_up = std::move(drop);
  }
  // There will be no result: forgets the caller.
  void drop() const {
    std::function<void(Result<T>)> then;
    std::function<bool()> dropped;
    MutexLock lock(later_.state_->mutex);
    later_.state_->is_set = true;
    then.swap(later_.state_->then);
    dropped.swap(later_.state_->on_give_up);
  }

 private:
  Later<T> later_;
};

template <class T>
template <class F>
auto Later<T>::map(F f) const -> Later<std::invoke_result_t<F&, T>> {
  using R = std::invoke_result_t<F&, T>;
  Promise<R> made;
  made.on_give_up([source = *this] { return source.give_up(); });
  then([made, f = std::move(f)](Result<T> result) mutable {
    if (result.error() != nullptr)
      made.set(*result.error());
    else
      made.set(result_of<R>([&] { return f(result.take()); }));
  });
  return made.later();
}

template <class T>
template <class F>
auto Later<T>::chain(F f) const -> std::invoke_result_t<F&, T> {
  using Next = std::invoke_result_t<F&, T>;
  Promise<typename Next::Value> made;
  made.on_give_up([source = *this] { return source.give_up(); });
  then([made, f = std::move(f)](Result<T> result) mutable {
    if (result.error() != nullptr) return made.set(*result.error());
    auto next = result_of<Next>([&] { return f(result.take()); });
    if (next.error() != nullptr) return made.set(*next.error());
    Next later = next.take();
    made.on_give_up([later] { return later.give_up(); });
    later.then([made](Result<typename Next::Value> last) { made.set(std::move(last)); });
  });
  return made.later();
}

// The result comes when all of them are known: an Error of one of them, if any.
inline Later<Done> when_all(const std::vector<Later<Done>>& all) {
  if (all.empty()) return Done{};
  struct State {
    Mutex mutex;
    size_t left SK_GUARDED_BY(mutex) = 0;
    std::optional<Error> error SK_GUARDED_BY(mutex);
  };
  auto state = std::make_shared<State>();
  {
    MutexLock lock(state->mutex);
    state->left = all.size();
  }
  Promise<Done> done;
  for (const auto& one : all)
    one.then([state, done](const Result<Done>& result) {
      std::optional<Error> error;
      {
        MutexLock lock(state->mutex);
        if (result.error() != nullptr) state->error = *result.error();
        if (--state->left > 0) return;
        error = state->error;
      }
      done.set(error ? Result<Done>(*error) : Result<Done>(Done{}));
    });
  return done.later();
}

}  // namespace sk
