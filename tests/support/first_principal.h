// Actors and authorities for tests, obtained as a client obtains them: by a key, through Access and
// Workspaces.
#pragma once

#include "workspace/keep.h"

namespace sk::workspace {

// The administrator of a keep, who is made when there is none yet.
inline Actor first_actor(Keep& keep) {
  constexpr auto kSecret = "a-root-key-for-tests";
  keep.access().ensure_first_principal(kSecret);
  return keep.access().authenticate(kSecret);
}

// The administrator's authority in the workspace `default`.
inline Authority first_authority(Keep& keep, Right right = Right::own) {
  return keep.workspaces().open_default(first_actor(keep), right);
}

// `principal`, through a new key of the scope that `wanted` has.
inline Actor actor_by_key(Keep& keep, const Id& principal, identity::NewKey wanted = {}) {
  wanted.name = "k";
  return keep.access().authenticate(keep.access().create_key(first_actor(keep), principal, wanted).secret);
}

}  // namespace sk::workspace
