#pragma once
// The plain texts among an object's metadata: one list for the API's resource and the side store.

#include <string>

#include "fakes/gcs/store/bucket_store.h"

namespace caip::gcs {

/// A property of an object that is a plain text, under its name in the JSON API.
struct TextField {
  const char* name;
  std::string ObjectInfo::*member;
};

inline constexpr TextField kTextFields[] = {
    {"contentType", &ObjectInfo::content_type},
    {"contentEncoding", &ObjectInfo::content_encoding},
    {"contentDisposition", &ObjectInfo::content_disposition},
    {"contentLanguage", &ObjectInfo::content_language},
    {"cacheControl", &ObjectInfo::cache_control},
    {"customTime", &ObjectInfo::custom_time},
    {"storageClass", &ObjectInfo::storage_class},
    {"kmsKeyName", &ObjectInfo::kms_key_name},
};

/// What is kept as JSON and given back so.
inline constexpr TextField kJsonFields[] = {
    {"retention", &ObjectInfo::retention},
    {"contexts", &ObjectInfo::contexts},
};

struct FlagField {
  const char* name;
  bool ObjectInfo::*member;
};

inline constexpr FlagField kFlagFields[] = {
    {"temporaryHold", &ObjectInfo::temporary_hold},
    {"eventBasedHold", &ObjectInfo::event_based_hold},
};

}  // namespace caip::gcs
