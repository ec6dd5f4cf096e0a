#include "base/log_folding.h"

#include <algorithm>

namespace sk::log {

bool LineFolding::admits(Level level, std::string_view message, Time now) {
  std::pair<Level, std::string> line(level, message.substr(0, kMessageBytesMax));
  auto at = rows_.find(line);
  if (at == rows_.end()) {
    if (rows_.size() >= kRowsMax) return true;
    at = rows_.emplace(std::move(line), Row{.began = now}).first;
    first_end_ = std::min(first_end_, now + kWindow);
  }
  return ++at->second.seen <= kWrittenMax;
}

void LineFolding::end_row(const Lines::value_type& row, std::vector<LeftOut>& out) {
  const auto& [line, state] = row;
  if (state.seen > kWrittenMax) out.push_back({line.first, line.second, state.seen - kWrittenMax});
}

std::vector<LineFolding::LeftOut> LineFolding::take_ended(Time now) {
  std::vector<LeftOut> out;
  if (now < first_end_) return out;
  first_end_ = Time::max();
  for (auto row = rows_.begin(); row != rows_.end();) {
    auto end = row->second.began + kWindow;
    if (end > now) {
      first_end_ = std::min(first_end_, end);
      ++row;
      continue;
    }
    end_row(*row, out);
    row = rows_.erase(row);
  }
  return out;
}

std::vector<LineFolding::LeftOut> LineFolding::take_all() {
  std::vector<LeftOut> out;
  for (const auto& row : rows_) end_row(row, out);
  rows_.clear();
  first_end_ = Time::max();
  return out;
}

}  // namespace sk::log
