// The figures of a TopSnapshot as gauges in the Prometheus text format.
#pragma once

#include <string>
#include <unordered_map>

#include "api/common/top.h"

namespace sk::api::rest {

// Figures of the whole server. They name nobody.
void append_server_gauges(std::string& out, const TopSnapshot& snapshot);

// Figures by principal, for administrators. The number of labels is bounded: the largest principals by
// memory, and `others` for the rest.
constexpr size_t kPrincipalLabelsMax = 20;
void append_principal_gauges(std::string& out, const TopRows& rows,
                             const std::unordered_map<Id, std::string>& names);

}  // namespace sk::api::rest
