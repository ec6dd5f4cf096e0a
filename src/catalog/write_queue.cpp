#include "catalog/write_queue.h"

#include <algorithm>
#include <tuple>

namespace sk::catalog {

void WriteQueue::push(Write& write) {
  auto [found, is_new] = tenants_.try_emplace(write.tenant);
  if (is_new && tenants_.size() > 1) {
    // A tenant that was away has saved up nothing: it begins with the least that a present one has used.
    auto least = std::chrono::nanoseconds::max();
    for (const auto& [id, tenant] : tenants_)
      if (id != write.tenant) least = std::min(least, tenant.used);
    found->second.used = least;
  }
  writes_.push_back(&write);
  ++found->second.queued;
}

std::vector<WriteQueue::Write*> WriteQueue::next(size_t max) const {
  if (tenants_.size() < 2) {
    auto count = static_cast<std::ptrdiff_t>(std::min(max, writes_.size()));
    return {writes_.begin(), writes_.begin() + count};
  }
  struct Line {
    size_t number;
    const Tenant* tenant;
    std::vector<Write*> writes;
    auto rank() const { return std::tuple(tenant->used, tenant->served, number); }
  };
  std::vector<Line> lines;  // by the arrival of their first writes
  std::unordered_map<Id, size_t> line_of;
  for (Write* write : writes_) {
    auto [found, is_new] = line_of.try_emplace(write->tenant, lines.size());
    if (is_new) lines.push_back({lines.size(), &tenants_.at(write->tenant), {}});
    lines[found->second].writes.push_back(write);
  }
  std::ranges::sort(lines, {}, &Line::rank);
  std::vector<Write*> group;
  for (size_t round = 0; group.size() < std::min(max, writes_.size()); ++round)
    for (const Line& line : lines)
      if (round < line.writes.size() && group.size() < max) group.push_back(line.writes[round]);
  return group;
}

void WriteQueue::remove_done() {
  ++groups_;
  std::erase_if(writes_, [&](const Write* write) {
    if (!write->done) return false;
    auto found = tenants_.find(write->tenant);
    found->second.used += write->took;
    found->second.served = groups_;
    if (--found->second.queued == 0) tenants_.erase(found);
    return true;
  });
}

}  // namespace sk::catalog
