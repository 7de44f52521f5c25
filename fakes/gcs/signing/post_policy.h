#pragma once
// Policy documents: conditions on the fields of a form that uploads an object.
// https://cloud.google.com/storage/docs/authentication/signatures#policy-document

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "fakes/gcs/signing/signature_check.h"

namespace caip::gcs {

/// A form's fields by their lower-case names, except the file.
using FormFields = std::map<std::string, std::string>;

struct PostPolicy {
  struct Condition {
    bool starts_with = false;  // false: the field equals `value`
    std::string field;         // lower-case
    std::string value;
  };
  Instant expiration;
  std::vector<Condition> conditions;
  std::optional<uint64_t> bytes_min;
  std::optional<uint64_t> bytes_max;
};

/// Reads a field `policy` (JSON in base64). kInvalidArgument says what is wrong.
Result<PostPolicy> ParsePostPolicy(std::string_view base64);

/// Checks expiration and every condition, and that every field has a condition. `bucket` is the
/// request's.
std::optional<SignatureFlaw> CheckPolicy(const PostPolicy& policy, const FormFields& fields,
                                         const std::string& bucket, Instant now);

/// Checks the policy's signature (V4 or V2). The form must have a policy.
std::optional<SignatureFlaw> CheckPolicySignature(const SignatureCheck& check,
                                                  const FormFields& fields);

}  // namespace caip::gcs
