#pragma once
// The fields of access lists and IAM policies that a client may set. Private to fakes/gcs.
// https://cloud.google.com/storage/docs/json_api/v1/bucketAccessControls
// https://cloud.google.com/storage/docs/json_api/v1/buckets/setIamPolicy

#include <string>
#include <string_view>

#include "fakes/gcs/service/resource_fields.h"

namespace caip::gcs {

/// The rule that the name of an entity of an access list breaks; "" if it breaks none.
std::string EntityRule(std::string_view entity);
/// The same for an etag.
std::string EtagRule(std::string_view etag);

namespace resource_fields {

// https://cloud.google.com/storage/quotas#objects
inline constexpr size_t kEntriesMax = 100;

inline constexpr std::string_view kBucketRoles[] = {"OWNER", "WRITER", "READER"};
// An object is written by its bucket's writers, so that it has no role for that.
inline constexpr std::string_view kObjectRoles[] = {"OWNER", "READER"};

inline constexpr ResourceField kBucketAccessFields[] = {
    Required(Checked("entity", EntityRule)),
    Required(OneOf("role", kBucketRoles)),
};
inline constexpr ResourceMessage kBucketAccess{kBucketAccessFields};

inline constexpr ResourceField kObjectAccessFields[] = {
    Required(Checked("entity", EntityRule)),
    Required(OneOf("role", kObjectRoles)),
};
inline constexpr ResourceMessage kObjectAccess{kObjectAccessFields};

inline constexpr ResourceField kExprFields[] = {
    Required({"expression", kText}),
    {"title", kText},
    {"description", kText},
    {"location", kText},
};
inline constexpr ResourceMessage kExpr{kExprFields};

inline constexpr ResourceField kBindingFields[] = {
    Required({"role", kText}),
    Required(ListOf({"members", kText})),
    Of("condition", kExpr),
};
inline constexpr ResourceMessage kBinding{kBindingFields};

// https://cloud.google.com/storage/quotas#buckets. A binding has at least one member.
inline constexpr size_t kMembersMax = 1500;

inline constexpr ResourceField kPolicyFields[] = {
    AtMost(kMembersMax, ListOf(Of("bindings", kBinding))),
    Checked("etag", EtagRule),
    {"version", kInt32},
};
inline constexpr ResourceMessage kPolicy{kPolicyFields};

}  // namespace resource_fields

}  // namespace caip::gcs
