#pragma once
// What stands before all APIs: it tells the metadata server's and the token endpoints' requests
// from the others, and writes the access log.

#include "base/clock.h"
#include "emulator/front/access_log.h"
#include "emulator/front/caller.h"
#include "fakes/metadata/machine.h"
#include "fakes/metadata/metadata_api.h"
#include "fakes/metadata/oauth_api.h"
#include "http/router.h"

namespace caip::front {

/// Any thread. All that it is given outlives it.
class FrontDoor {
 public:
  struct Parts {
    const metadata::MachineTable& book;
    const metadata::TokenMint& mint;
    metadata::Identity user;  // whom a refresh token stands for
    http::Handler inner;      // all other APIs
    AccessLog* log = nullptr;
    const Clock& wall;
  };
  explicit FrontDoor(Parts parts);

  http::Response Handle(const http::Request& request) const;

 private:
  bool IsForMetadata(const http::Request& request) const;
  http::Response Answer(const http::Request& request, bool for_metadata,
                        const std::string& listener) const;

  Parts parts_;
  metadata::MetadataApi metadata_;
  http::Router oauth_;
  CallerReader callers_;
};

}  // namespace caip::front
