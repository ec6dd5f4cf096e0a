// Azure's dynamic sessions: files by name in a session that its identifier names. Both generations of the
// API are tried, the newer first.
#pragma once

#include "bridge/upstream.h"

namespace sk::bridge {

class AzureUpstream final : public Upstream {
 public:
  AzureUpstream(std::string base_url, std::unique_ptr<Remote> remote)
      : base_url_(std::move(base_url)), remote_(std::move(remote)) {}

  Fetched fetch(const WantedFile& wanted, ByteSink& sink) override;

 private:
  Fetched fetch_path(const std::string& identifier, const std::string& path, ByteSink& sink);

  const std::string base_url_;
  std::unique_ptr<Remote> remote_;
};

}  // namespace sk::bridge
