// Permanent links: /k/{version}/{name} yields the bytes that a message meant, until their owner purges them.
#pragma once

#include "api/common/routes.h"

namespace sk::api::links {

void add_routes(Routes& routes);

}  // namespace sk::api::links
