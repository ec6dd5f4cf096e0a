// Fetches files from OpenAI containers and the Files API, and from Foundry, which has the same API at several
// endpoints. One thread.
#pragma once

#include <map>
#include <optional>

#include "bridge/upstream.h"

namespace sk::bridge {

class OpenAiUpstream final : public Upstream {
 public:
  OpenAiUpstream(std::vector<std::string> endpoints, std::unique_ptr<RemoteServer> remote)
      : endpoints_(std::move(endpoints)), remote_(std::move(remote)) {}

  Fetched fetch(const WantedFile& wanted, ByteSink& sink) override;

 private:
  struct Listing {
    std::optional<std::vector<ListedFile>> files;  // nullopt if it failed
    bool is_whole = true;                          // false with a failure: only its beginning could be read
    Fetched failure;
    std::string endpoint;
  };
  Fetched fetch_content(const std::string& endpoint, const std::string& container, const std::string& file_id,
                        ByteSink& sink);
  std::string find_path(const std::string& endpoint, const std::string& container,
                        const std::string& file_id);
  Fetched fetch_by_id(const WantedFile& wanted, ByteSink& sink);
  Fetched fetch_by_listing(const WantedFile& wanted, const Fetched& first, ByteSink& sink);
  const Listing& listing_of(const std::string& container);
  Listing list(const std::string& container);
  std::optional<std::vector<ListedFile>> list_at(const std::string& url, Fetched& failure);

  const std::vector<std::string> endpoints_;
  std::unique_ptr<RemoteServer> remote_;
  std::map<std::string, Listing> listings_;
};

}  // namespace sk::bridge
