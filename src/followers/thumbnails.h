// Makes the thumbnails of images that messages show before a reader asks for them. One that is missing is
// still made when it is asked for.
#pragma once

#include "conversations/conversations.h"
#include "followers/follower.h"
#include "interpreter/interpreter.h"

namespace sk::followers {

FollowerOptions thumbnail_options();
// The arguments outlive the returned function, which waits for the sandbox.
Follower::OnEvents make_thumbnails(workspace::Keep& keep, conversations::Conversations& conversations,
                                   interpreter::Interpreter& interpreter);

}  // namespace sk::followers
