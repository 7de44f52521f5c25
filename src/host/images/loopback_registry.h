#pragma once
// Pulls images from other registries of this host, by the OCI Distribution Specification over plain
// HTTP. Only loopback addresses are ever asked: redirects to other hosts are errors.

#include <optional>
#include <stop_token>
#include <string>

#include "base/result.h"
#include "images/digest.h"
#include "images/image_reference.h"

namespace caip::images {
class ImageStore;
}  // namespace caip::images

namespace caip::host {

/// The registry that a name means if it begins with a loopback address and a port: "127.0.0.1:5000"
/// for "localhost:5000/p/i" and "127.0.0.1:5000/p/i".
std::optional<std::string> LoopbackRegistryOf(const images::ImageReference& name);

/// Asks the registry for the image, and copies what the store does not have yet. A name with a
/// digest gets exactly that manifest. Returns the digest of the manifest or index. Errors say what
/// the registry answered. Blocks; kCancelled after `stop` is requested.
Result<images::Digest> PullFromLoopback(const std::string& registry,
                                        const images::ImageReference& name,
                                        images::ImageStore& store, const std::stop_token& stop);

}  // namespace caip::host
