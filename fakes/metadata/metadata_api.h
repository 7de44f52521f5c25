#pragma once
// Compute Engine's metadata server over HTTP: /computeMetadata/v1/... and the ping at "/".

#include "fakes/metadata/machine.h"
#include "fakes/metadata/token_mint.h"
#include "http/message.h"

namespace caip::metadata {

/// Any thread. The table and the mint must outlive it.
class MetadataApi {
 public:
  MetadataApi(const MachineTable& book, const TokenMint& mint) : book_(book), mint_(mint) {}

  /// Answers for the machine of the listener. Blocks if the request waits for a change;
  /// MachineTable::Close() ends that.
  http::Response Handle(const http::Request& request, const std::string& listener) const;

 private:
  http::Response Answer(const http::Request& request, const std::string& listener) const;
  http::Response Serve(const http::Request& request, const std::string& listener) const;

  const MachineTable& book_;
  const TokenMint& mint_;
};

/// Whether a request is for the metadata server, on any listener: by its path, by the server's
/// name, or as a ping ("/" with the flavor header).
bool IsMetadataRequest(const http::Request& request);

}  // namespace caip::metadata
