// Permanent links: /k/{version}/{name} returns the bytes of one version until its owner purges them.
#pragma once

#include "api/common/routes.h"

namespace sk::api::links {

void add_routes(Routes& routes);

}  // namespace sk::api::links
