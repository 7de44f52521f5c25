#pragma once
// The names in requests to the registry: repositories, tags and digests.
// https://github.com/opencontainers/distribution-spec/blob/v1.1.1/spec.md#pulling-manifests

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "images/digest.h"

namespace caip::registry {

/// The host of images that are pushed to the emulator's own address.
inline constexpr std::string_view kDefaultHost = "gcr.io";

/// True for gcr.io, *.gcr.io and *.pkg.dev. `host` may have a port.
bool IsRegistryHost(std::string_view host);

/// A repository in a request.
struct Repository {
  std::string shown;   // as the client names it: "project/image"
  std::string stored;  // in the image store: "gcr.io/project/image"
};

/// Finds the repository `name` of a request to `host`. At a registry's host, the stored name begins
/// with that host. At any other address, a name that begins with a registry's host is complete, and
/// the host of any other name is kDefaultHost: a client that is configured to use 127.0.0.1:2247
/// instead of gcr.io gets the images of gcr.io. kInvalidArgument, with the reason "nameInvalid".
Result<Repository> FindRepository(std::string_view host, std::string_view name);

/// The name of a stored repository for clients of `host`; nullopt if none leads to it: it belongs
/// to another host, or it is of the emulator's own (localhost/mapped).
std::optional<std::string> ShownName(std::string_view host, std::string_view stored);

/// A tag or a digest.
struct Reference {
  std::string tag;  // "" if there is a digest
  std::optional<images::Digest> digest;
};
/// kInvalidArgument, with the reason "digestInvalid" (a text with a colon) or "tagInvalid".
Result<Reference> ParseReference(std::string_view text);

}  // namespace caip::registry
