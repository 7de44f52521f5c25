#pragma once
// Customer-supplied encryption keys. Bytes stay as they are on the disk; but who does not show the
// key does not get them, as with the service.
// https://cloud.google.com/storage/docs/encryption/customer-supplied-keys

#include <string>

#include "fakes/gcs/store/bucket_store.h"
#include "http/message.h"

namespace caip::gcs {

inline constexpr const char* kKeyHeaders = "x-goog-encryption-";
inline constexpr const char* kSourceKeyHeaders = "x-goog-copy-source-encryption-";

/// The SHA-256 (base64) of the key in the headers <prefix>algorithm, -key and -key-sha256; "" when
/// there is none. kInvalidArgument when they do not fit together.
Result<std::string> KeyShown(const http::Request& request, const char* prefix = kKeyHeaders);

/// Does the key open the object? An object without a key opens without one only.
Status CheckKey(const ObjectInfo& info, const std::string& shown_sha256);

}  // namespace caip::gcs
