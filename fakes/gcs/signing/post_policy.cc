#include "fakes/gcs/signing/post_policy.h"

#include <algorithm>

#include "base/encoding.h"
#include "base/json.h"
#include "base/text.h"
#include "base/time_text.h"
#include "fakes/gcs/errors.h"
#include "fakes/gcs/signing/signature_flaws.h"

namespace caip::gcs {
namespace {

SignatureFlaw Refused(std::string_view why) {
  return {400,
          "InvalidPolicyDocument",
          "The content of the form does not meet the conditions specified in the policy document.",
          {{"Details", std::string(why)}}};
}

// True for fields that sign the policy, and for fields that the server ignores.
bool NeedsNoCondition(const std::string& field) {
  return field == "policy" || field == "signature" || field == "x-goog-signature" ||
         field == "x-amz-signature" || field == "googleaccessid" || field == "awsaccesskeyid" ||
         field == "file" || field == "submit" || field.starts_with("x-ignore-");
}

std::string ValueText(const Json& value) {
  return value.is_string() ? value.get<std::string>() : CompactJson(value);
}

std::optional<uint64_t> Bytes(const Json& value) {
  if (value.is_number_unsigned()) return value.get<uint64_t>();
  const Json holder = {{"n", value}};
  const long long number = IntOr(holder, "n", -1);
  return number < 0 ? std::nullopt : std::optional(static_cast<uint64_t>(number));
}

Status AddList(const Json& list, PostPolicy* policy) {
  if (list.size() != 3 || !list[0].is_string())
    return errors::PolicyInvalid("a list needs three elements");
  const std::string kind = LowerCase(list[0].get<std::string>());
  if (kind == "content-length-range") {
    policy->bytes_min = Bytes(list[1]);
    policy->bytes_max = Bytes(list[2]);
    if (policy->bytes_min && policy->bytes_max) return Ok{};
    return errors::PolicyInvalid("content-length-range needs two numbers");
  }
  if ((kind != "eq" && kind != "starts-with") || !list[1].is_string()) {
    return errors::PolicyInvalid("expected eq, starts-with or content-length-range, not '" + kind +
                                 "'");
  }
  const std::string field = list[1].get<std::string>();
  if (!field.starts_with('$')) return errors::PolicyInvalid("a field is written as $name");
  policy->conditions.push_back(
      {kind == "starts-with", LowerCase(field.substr(1)), ValueText(list[2])});
  return Ok{};
}

bool Holds(const PostPolicy::Condition& condition, const std::string& value) {
  return condition.starts_with ? value.starts_with(condition.value) : value == condition.value;
}

}  // namespace

Result<PostPolicy> ParsePostPolicy(std::string_view base64) {
  const auto text = FromBase64(base64);
  if (!text) return errors::PolicyInvalid("it is not base64");
  const auto json = ParseJson(*text);
  if (!json.ok()) return errors::PolicyInvalid(json.error().message);
  PostPolicy policy;
  const auto expiration = ParseRfc3339(StringOr(*json, "expiration"));
  if (!expiration) return errors::PolicyInvalid("'expiration' must be an RFC 3339 time");
  policy.expiration = *expiration;
  const Json* conditions = Member(*json, "conditions");
  if (conditions == nullptr || !conditions->is_array())
    return errors::PolicyInvalid("'conditions' must be a list");
  for (const Json& condition : *conditions) {
    if (condition.is_array()) {
      RETURN_IF_ERROR(AddList(condition, &policy));
    } else if (condition.is_object()) {
      for (const auto& [field, value] : condition.items()) {
        policy.conditions.push_back({false, LowerCase(field), ValueText(value)});
      }
    } else {
      return errors::PolicyInvalid("a condition is a list or an object");
    }
  }
  return policy;
}

std::optional<SignatureFlaw> CheckPolicy(const PostPolicy& policy, const FormFields& fields,
                                         const std::string& bucket, Instant now) {
  if (now > policy.expiration) return flaws::Expired(policy.expiration);
  for (const PostPolicy::Condition& condition : policy.conditions) {
    const auto field = fields.find(condition.field);
    const std::string value = condition.field == "bucket" ? bucket
                              : field == fields.end()     ? ""
                                                          : field->second;
    if (!Holds(condition, value)) {
      return Refused("Field '" + condition.field + "' is '" + value + "', but it must " +
                     (condition.starts_with ? "start with '" : "be '") + condition.value + "'.");
    }
  }
  for (const auto& [field, value] : fields) {
    const bool named =
        field == "bucket" || NeedsNoCondition(field) ||
        std::any_of(policy.conditions.begin(), policy.conditions.end(),
                    [&name = field](const auto& condition) { return condition.field == name; });
    if (!named) return Refused("Field '" + field + "' has no condition in the policy.");
  }
  return std::nullopt;
}

std::optional<SignatureFlaw> CheckPolicySignature(const SignatureCheck& check,
                                                  const FormFields& fields) {
  const auto of = [&](const std::string& name) {
    const auto field = fields.find(name);
    return field == fields.end() ? "" : field->second;
  };
  for (const std::string prefix : {"x-goog-", "x-amz-"}) {
    if (of(prefix + "signature").empty()) continue;
    const std::string credential = of(prefix + "credential");
    const std::vector<std::string> parts = Split(credential, '/');
    if (parts.size() < 5) return flaws::Malformed(prefix + "credential", "its scope is missing");
    const std::vector<std::string> scope(parts.end() - 4, parts.end());
    const std::string scope_text = Join(scope, "/");
    return check.CheckText(of(prefix + "algorithm"),
                           credential.substr(0, credential.size() - scope_text.size() - 1),
                           scope_text, of("policy"), of(prefix + "signature"));
  }
  if (!of("signature").empty()) {
    const std::string id =
        of("googleaccessid").empty() ? of("awsaccesskeyid") : of("googleaccessid");
    if (id.empty()) return flaws::Malformed("GoogleAccessId", "it is missing");
    return check.CheckTextV2(id, of("policy"), of("signature"));
  }
  return flaws::Malformed("x-goog-signature", "a form with a policy needs its signature");
}

}  // namespace caip::gcs
