// Azure's dynamic sessions: files by name in a session that its identifier names. Both generations of the
// API are tried, the newer first; a file that is not where the message says is looked for in the session's
// list.
#pragma once

#include <map>

#include "bridge/upstream.h"

namespace sk::bridge {

class AzureUpstream final : public Upstream {
 public:
  AzureUpstream(std::string base_url, std::unique_ptr<Remote> remote)
      : base_url_(std::move(base_url)), remote_(std::move(remote)) {}

  Fetched fetch(const WantedFile& wanted, ByteSink& sink) override;

 private:
  Fetched fetch_path(const std::string& identifier, const std::string& path, ByteSink& sink);
  std::string find_in_list(const WantedFile& wanted);
  const std::vector<ListedFile>& listing_of(const std::string& identifier);
  bool list_at(std::string url, std::vector<ListedFile>& files);

  const std::string base_url_;
  std::unique_ptr<Remote> remote_;
  std::map<std::string, std::vector<ListedFile>> listings_;  // empty where none came
};

}  // namespace sk::bridge
