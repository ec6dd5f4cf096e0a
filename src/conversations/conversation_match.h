// Finds the version that a message means by a link, a citation or an id. Private to this room.
#pragma once

#include <map>

#include "conversations/conversations.h"

namespace sk::conversations {

// For one message; one thread.
class MentionMatcher {
 public:
  struct Circumstances {
    const Authority& authority;  // in the conversation's workspace
    const NewMessage& wanted;
    const FindPlace& find_place;
    TimeUs time_us;                        // when the message was made
    std::string earlier_container;         // that the conversation used before
    const std::vector<ShownFile>& before;  // of the message as it was stored before
  };
  MentionMatcher(Ground& ground, Files& files, Workspaces& workspaces, Circumstances circumstances);

  ShownFile match(const Mention& mention);
  // A version id or a path that the app itself names.
  ShownFile match_named(const std::string& name);

 private:
  bool from_before(const Mention& mention, ShownFile& out) const;
  void match_web(const Mention& mention, ShownFile& out);
  void keep_data(const Mention& mention, ShownFile& out);
  bool by_id(ShownFile& out);
  bool by_origin(ShownFile& out);
  bool by_origin_or_path(const Mention& mention, ShownFile& out);
  bool by_path(const Mention& mention, ShownFile& out);
  void give_up(ShownFile& out) const;
  std::vector<std::string> containers_for(const Mention& mention) const;
  std::optional<Place> place_of(const std::string& container);
  bool may_read(const Id& workspace);

  Ground& ground_;
  Files& files_;
  Workspaces& workspaces_;
  const Circumstances given_;
  std::map<std::string, std::optional<Place>> places_;
  std::map<Id, bool> readable_;
  bool looked_ = false;  // in some session's folder, for the mention at hand
  int images_ = 0;
};

}  // namespace sk::conversations
