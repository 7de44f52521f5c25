#pragma once
// The methods that make and use keys: storage.projects.hmacKeys, IAM's signBlob, and an emulator
// method that registers the public key of a service account.

#include <memory>
#include <vector>

#include "fakes/gcs/signing/service_keys.h"
#include "http/router.h"

namespace caip::gcs {

/// /storage/v1/projects/{project}/hmacKeys and below. The handlers share `keys`.
std::vector<http::Route> HmacKeyRoutes(std::shared_ptr<ServiceKeys> keys);

/// /v1/projects/{project}/serviceAccounts/{account}:signBlob (iamcredentials.googleapis.com), and
/// GET and PUT /emulator/v1/serviceAccounts/{account}/publicKeys: {"publicKeys":[PEM]}; a PUT's
/// {"publicKey":PEM} is added. A PEM of a private key or certificate is taken for its public half.
std::vector<http::Route> AccountKeyRoutes(std::shared_ptr<ServiceKeys> keys);

}  // namespace caip::gcs
