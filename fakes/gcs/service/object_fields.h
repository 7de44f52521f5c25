#pragma once
// The fields of objects, of requests about objects and of HMAC keys that a client may set. Private
// to fakes/gcs. https://cloud.google.com/storage/docs/json_api/v1/objects#resource

#include <cstddef>
#include <string>
#include <string_view>

#include "fakes/gcs/service/access_fields.h"
#include "fakes/gcs/service/bucket_fields.h"
#include "fakes/gcs/service/resource_fields.h"

namespace caip::gcs {

/// The rule that the key of an object's context breaks; "" if it breaks none.
std::string ContextKeyRule(std::string_view key);
/// The same for the value of a context.
std::string ContextValueRule(std::string_view value);
Status CheckContextCount(size_t count);
/// Checks the number and the size of the contexts that an object gets, by their keys.
Status CheckContexts(const Json& contexts);

namespace resource_fields {

inline constexpr std::string_view kObjectRetentionModes[] = {"Locked", "Unlocked"};
inline constexpr std::string_view kKeyStates[] = {"ACTIVE", "INACTIVE"};

inline constexpr ResourceField kContextFields[] = {Checked("value", ContextValueRule)};
inline constexpr ResourceMessage kContext{kContextFields};

inline constexpr ResourceField kContextsFields[] = {MapOf("custom", kContext, ContextKeyRule)};
inline constexpr ResourceMessage kContexts{kContextsFields};

inline constexpr ResourceField kRetainUntilFields[] = {OneOf("mode", kObjectRetentionModes),
                                                       {"retainUntilTime", kTime}};
inline constexpr ResourceMessage kRetainUntil{kRetainUntilFields};

inline constexpr ResourceField kObjectFields[] = {
    {"name", kText},
    {"md5Hash", kText},
    {"crc32c", kText},
    AtMost(kEntriesMax, ListOf(Of("acl", kObjectAccess))),
    {"cacheControl", kText},
    {"contentDisposition", kText},
    {"contentEncoding", kText},
    {"contentLanguage", kText},
    {"contentType", kText},
    Of("contexts", kContexts),
    {"customTime", kTime},
    {"eventBasedHold", kFlag},
    {"kmsKeyName", kText},
    {"metadata", kLooseTextMap},
    Of("retention", kRetainUntil),
    ClassField("storageClass"),
    {"temporaryHold", kFlag},
};
inline constexpr ResourceMessage kObject{kObjectFields};

inline constexpr ResourceField kSourceConditionFields[] = {{"ifGenerationMatch", kInt64}};
inline constexpr ResourceMessage kSourceConditions{kSourceConditionFields};

inline constexpr ResourceField kSourceFields[] = {
    Required({"name", kText}),
    {"generation", kInt64},
    Of("objectPreconditions", kSourceConditions),
};
inline constexpr ResourceMessage kSource{kSourceFields};

inline constexpr ResourceField kComposeFields[] = {
    ListOf(Of("sourceObjects", kSource)),
    Of("destination", kObject),
    {"deleteSourceObjects", kFlag},
};
inline constexpr ResourceMessage kCompose{kComposeFields};

inline constexpr ResourceField kBulkRestoreFields[] = {
    {"allowOverwrite", kFlag},        {"copySourceAcl", kFlag},
    {"createdAfterTime", kTime},      {"createdBeforeTime", kTime},
    ListOf({"matchGlobs", kText}),    {"softDeletedAfterTime", kTime},
    {"softDeletedBeforeTime", kTime},
};
inline constexpr ResourceMessage kBulkRestore{kBulkRestoreFields};

inline constexpr ResourceField kManagedFolderFields[] = {Required({"name", kText})};
inline constexpr ResourceMessage kManagedFolder{kManagedFolderFields};

inline constexpr ResourceField kHmacKeyFields[] = {Required(OneOf("state", kKeyStates)),
                                                   {"etag", kText}};
inline constexpr ResourceMessage kHmacKey{kHmacKeyFields};

}  // namespace resource_fields

}  // namespace caip::gcs
