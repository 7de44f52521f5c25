#pragma once
// The IAM policy of an object without uniform bucket-level access: its access control list, in
// other words. A reader of the list has the role roles/storage.legacyObjectReader, an owner
// roles/storage.legacyObjectOwner; an object's policy has no other roles. Private to
// fakes/gcs/service.
// https://cloud.google.com/storage/docs/access-control/iam#acls

#include "base/json_fwd.h"
#include "base/result.h"
#include "fakes/gcs/service/access_lists.h"
#include "fakes/gcs/store/bucket_store.h"

namespace caip::gcs {

/// {"bindings","version"}
Json PolicyOfEntries(const AccessEntries& entries, const Bucket& bucket);

/// The list that the policy stands for. An entity with both roles is an owner. kInvalidArgument
/// names all bindings and members that no list can have. `policy` is from ReadPolicy().
Result<AccessEntries> EntriesOfPolicy(const Json& policy, const Bucket& bucket);

}  // namespace caip::gcs
