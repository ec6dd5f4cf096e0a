// Serializes files of a session in the shapes of both families. Pure functions; any thread.
#pragma once

#include "base/json.h"
#include "interpreter/types.h"
#include "workspace/types.h"

namespace sk::api::azure {

// {"$id","properties":{"$id","filename","size","lastModifiedTime"}}. `number` makes each "$id" unique within
// an answer.
Json family_a_file(const workspace::Entry& entry, const interpreter::SessionInfo& session, size_t number);

// {"name","type","contentType","sizeInBytes","lastModifiedAt","directory"}.
Json family_b_file(const workspace::Entry& entry, const interpreter::SessionInfo& session);

}  // namespace sk::api::azure
