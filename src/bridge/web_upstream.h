// Fetches files that a message names by a web address, such as an image in an interpreter's output. One
// thread.
#pragma once

#include "bridge/upstream.h"

namespace sk::bridge {

class WebUpstream final : public Upstream {
 public:
  WebUpstream(PlainHttp plain_http, std::unique_ptr<RemoteServer> remote)
      : plain_http_(plain_http), remote_(std::move(remote)) {}

  Fetched fetch(const WantedFile& wanted, ByteSink& sink) override;

 private:
  const PlainHttp plain_http_;
  std::unique_ptr<RemoteServer> remote_;
};

}  // namespace sk::bridge
