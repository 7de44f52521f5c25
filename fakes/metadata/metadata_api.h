#pragma once
// Compute Engine's metadata server over HTTP: /computeMetadata/v1/... and the ping at "/".

#include "fakes/metadata/guest.h"
#include "fakes/metadata/token_mint.h"
#include "http/message.h"

namespace caip::metadata {

/// Any thread. Book and mint outlive it.
class MetadataApi {
 public:
  MetadataApi(const GuestBook& book, const TokenMint& mint) : book_(book), mint_(mint) {}

  /// Answers as the machine behind that listener sees it. Blocks where it is asked to wait for a
  /// change; GuestBook::Close() ends that.
  http::Response Handle(const http::Request& request, const std::string& listener) const;

 private:
  http::Response Answer(const http::Request& request, const std::string& listener) const;
  http::Response Serve(const http::Request& request, const std::string& listener) const;

  const GuestBook& book_;
  const TokenMint& mint_;
};

/// Whether a request is for the metadata server wherever it arrives: by its path, by the server's
/// name, or as a ping ("/" with the flavor header).
bool IsMetadataRequest(const http::Request& request);

}  // namespace caip::metadata
