// Finds the version that a link, a citation or an id in a message refers to. Private to this room.
#pragma once

#include <map>

#include "conversations/conversations.h"

namespace sk::conversations {

// Matches the mentions of one message; one thread. The references in Circumstances outlive the matcher.
class MentionMatcher {
 public:
  struct Circumstances {
    const Authority& authority;  // in the conversation's workspace
    const NewMessage& wanted;
    const FindPlace& find_place;
    TimeUs time_us;                        // creation time of the message
    std::string earlier_container;         // the container that earlier messages used
    const std::vector<ShownFile>& before;  // files of the stored message that this one replaces
  };
  MentionMatcher(KeepContext& context, Files& files, Workspaces& workspaces, Circumstances circumstances);

  ShownFile match(const Mention& mention);
  // Matches a version id or a path that the app names explicitly. Error(not_found), Error(bad_request) for a
  // folder.
  ShownFile match_named(const std::string& name);

 private:
  bool from_before(const Mention& mention, ShownFile& out) const;
  void match_web(const Mention& mention, ShownFile& out);
  void keep_data(const Mention& mention, ShownFile& out);
  bool by_id(ShownFile& out);
  bool by_origin(ShownFile& out);
  bool by_origin_or_path(const Mention& mention, ShownFile& out);
  bool by_path(const Mention& mention, ShownFile& out);
  struct Found {
    Version version;
    std::string path;  // in the session's folder
  };
  // Returns the version that an address meant when the message was made.
  std::optional<Found> find_at(const SessionFolder& place, const std::string& address);
  void give_up(ShownFile& out) const;
  std::vector<std::string> containers_for(const Mention& mention) const;
  std::optional<SessionFolder> place_of(const std::string& container);
  bool may_read(const Id& workspace);

  KeepContext& context_;
  Files& files_;
  Workspaces& workspaces_;
  const Circumstances given_;
  std::map<std::string, std::optional<SessionFolder>> places_;
  std::map<Id, bool> readable_;
  bool looked_ = false;  // a session's folder was searched for the current mention
  int images_ = 0;
};

}  // namespace sk::conversations
