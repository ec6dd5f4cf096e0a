// Fetches files from Azure dynamic sessions, by name in the session of an identifier. Tries both generations
// of the API, the newer one first. A file that is not at the path in the message is searched in the session's
// listing. One thread.
#pragma once

#include <map>

#include "bridge/upstream.h"

namespace sk::bridge {

class AzureUpstream final : public Upstream {
 public:
  AzureUpstream(std::string base_url, std::unique_ptr<RemoteServer> remote)
      : base_url_(std::move(base_url)), remote_(std::move(remote)) {}

  Fetched fetch(const WantedFile& wanted, ByteSink& sink) override;

 private:
  Fetched fetch_path(const std::string& identifier, const std::string& path, ByteSink& sink);
  std::string find_in_list(const WantedFile& wanted);
  const std::vector<ListedFile>& listing_of(const std::string& identifier);
  bool list_at(std::string url, std::vector<ListedFile>& files);

  const std::string base_url_;
  std::unique_ptr<RemoteServer> remote_;
  std::map<std::string, std::vector<ListedFile>> listings_;  // by identifier; empty if the listing failed
};

}  // namespace sk::bridge
