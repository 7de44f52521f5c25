#pragma once
// The rules for the fields that a client sets of an object, and for keys.

#include <string>

#include "fakes/gcs/store/bucket_store.h"

namespace caip::gcs {

/// The strong validator that the JSON resource and the ETag header share.
std::string EtagOf(const ObjectInfo& info);

/// Checks customTime, retention and metadata. kInvalidArgument names the field.
Status CheckObjectFields(const ObjectInfo& info);

/// A locked retention may only be extended. An unlocked one may be shortened or removed if
/// `may_weaken` is set.
Status CheckRetentionChange(const std::string& before, const std::string& after, bool may_weaken);

/// Does the customer-supplied key open the object? An object without a key opens without one only.
/// `shown_sha256` is what KeyShown() gives.
Status CheckKey(const ObjectInfo& info, const std::string& shown_sha256);

}  // namespace caip::gcs
