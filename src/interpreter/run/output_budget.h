// The memory that the outputs of all executions of a server may use together. An execution that gets no more
// of it sends further output to a file.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>

namespace sk::interpreter {

// Any thread.
class OutputBudget {
 public:
  explicit OutputBudget(size_t bytes_max) : bytes_max_(bytes_max) {}

  // False, and takes nothing, when so much is not left.
  bool take(size_t bytes) {
    size_t used = used_;
    while (bytes <= bytes_max_ && used <= bytes_max_ - bytes)
      if (used_.compare_exchange_weak(used, used + bytes)) return true;
    return false;
  }
  void give_back(size_t bytes) { used_ -= bytes; }
  size_t used() const { return used_; }

 private:
  const size_t bytes_max_;
  std::atomic<size_t> used_{0};
};

// A part of a budget, which the destructor gives back. One thread at a time.
class OutputShare {
 public:
  // Null: unlimited.
  explicit OutputShare(std::shared_ptr<OutputBudget> budget) : budget_(std::move(budget)) {}
  OutputShare(const OutputShare&) = delete;
  OutputShare& operator=(const OutputShare&) = delete;
  ~OutputShare() { give_back(bytes_); }

  bool take(size_t bytes) {
    if (budget_ && !budget_->take(bytes)) return false;
    bytes_ += bytes;
    return true;
  }
  void give_back(size_t bytes) {
    if (budget_) budget_->give_back(bytes);
    bytes_ -= bytes;
  }
  size_t bytes() const { return bytes_; }
  const std::shared_ptr<OutputBudget>& budget() const { return budget_; }

 private:
  // Shared with all executions, some of which outlive their session.
  const std::shared_ptr<OutputBudget> budget_;
  size_t bytes_ = 0;
};

}  // namespace sk::interpreter
