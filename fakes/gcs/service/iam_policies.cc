#include "fakes/gcs/service/iam_policies.h"

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/encoding.h"
#include "base/json.h"
#include "base/text.h"
#include "fakes/gcs/errors.h"
#include "fakes/gcs/service/access_fields.h"
#include "fakes/gcs/service/storage_service.h"
#include "fakes/gcs/service/stored_values.h"

namespace caip::gcs {
namespace {

using resource_fields::kMembersMax;

// https://cloud.google.com/storage/quotas#buckets. A member counts once for each of its roles:
// https://cloud.google.com/iam/quotas#limits
constexpr size_t kLegacyMembersMax = 100;
constexpr std::string_view kLegacyRoles = "roles/storage.legacy";
constexpr int64_t kVersionWithConditions = 3;

// roles/NAME, projects/P/roles/NAME, organizations/O/roles/NAME.
bool IsRoleName(std::string_view role) {
  const std::vector<std::string> parts = Split(role, '/');
  const auto is_empty = [](const std::string& part) { return part.empty(); };
  if (std::any_of(parts.begin(), parts.end(), is_empty)) return false;
  if (parts.size() == 2) return parts[0] == "roles";
  return parts.size() == 4 && (parts[0] == "projects" || parts[0] == "organizations") &&
         parts[2] == "roles";
}

// https://cloud.google.com/iam/docs/principal-identifiers
bool IsPrincipal(std::string_view member) {
  static const std::set<std::string_view> kTypes = {
      "user",          "serviceAccount", "group",     "domain",      "projectOwner",
      "projectEditor", "projectViewer",  "principal", "principalSet"};
  constexpr std::string_view kDeleted = "deleted:";
  if (member == "allUsers" || member == "allAuthenticatedUsers") return true;
  if (member.starts_with(kDeleted)) member.remove_prefix(kDeleted.size());
  const size_t colon = member.find(':');
  return colon != std::string_view::npos && colon + 1 < member.size() &&
         kTypes.contains(member.substr(0, colon));
}

// Counts the members of a binding, and checks them. All types are right.
size_t CheckBinding(const Json& binding, const std::string& path, Violations* broken) {
  const std::string role = StringOr(binding, "role");
  if (!IsRoleName(role)) broken->Add(path + ".role", errors::PolicyRoleMalformed(role));
  const Json* members = Member(binding, "members");
  if (members == nullptr) return 0;
  for (size_t i = 0; i < members->size(); ++i) {
    const auto& member = (*members)[i].get_ref<const std::string&>();
    if (IsPrincipal(member)) continue;
    broken->Add(path + ".members[" + std::to_string(i) + "]", errors::PolicyMemberUnknown(member));
  }
  return members->size();
}

void CheckMemberCounts(size_t all, size_t legacy, Violations* broken) {
  if (all > kMembersMax) {
    broken->Add("bindings", errors::TooManyEntries("members", "a policy", kMembersMax));
  }
  if (legacy > kLegacyMembersMax) {
    broken->Add("bindings",
                errors::TooManyEntries("members with legacy roles", "a policy", kLegacyMembersMax));
  }
}

void CheckVersion(const Json& policy, Violations* broken) {
  const long long version = IntOr(policy, "version", 0);
  if (version != 0 && version != 1 && version != kVersionWithConditions) {
    broken->AddRule("version", "expected 0, 1 or 3, found " + std::to_string(version));
  }
}

}  // namespace

std::string EtagRule(std::string_view etag) {
  return FromBase64(etag) ? "" : "expected bytes in base64";
}

bool HasConditions(const Json& policy) {
  const Json* bindings = Member(policy, "bindings");
  if (bindings == nullptr || !bindings->is_array()) return false;
  return std::any_of(bindings->begin(), bindings->end(),
                     [](const Json& binding) { return Member(binding, "condition") != nullptr; });
}

Result<Json> ReadPolicy(const Json& body) {
  ASSIGN_OR_RETURN(Json policy, ReadResource(body, resource_fields::kPolicy));
  const Json bindings = policy.value("bindings", Json());
  Violations broken;
  Json kept = Json::array();
  size_t all = 0;
  size_t legacy = 0;
  for (size_t i = 0; i < bindings.size(); ++i) {
    const size_t count = CheckBinding(bindings[i], "bindings[" + std::to_string(i) + "]", &broken);
    all += count;
    if (StringOr(bindings[i], "role").starts_with(kLegacyRoles)) legacy += count;
    if (count > 0) kept.push_back(bindings[i]);
  }
  CheckMemberCounts(all, legacy, &broken);
  CheckVersion(policy, &broken);
  RETURN_IF_ERROR(broken.AsStatus());
  policy["bindings"] = std::move(kept);
  return policy;
}

Json ReadablePolicy(const Json& stored) {
  const auto check = [](const Json& binding, const std::string& path, Violations* broken) {
    CheckBinding(binding, path, broken);
  };
  return ValidMembers(stored, resource_fields::kPolicy, {.check_entry = check}, nullptr);
}

Status CheckConditions(const Json& policy, const Bucket& bucket) {
  if (!HasConditions(policy) || RulesOf(bucket).uniform_access) return Ok{};
  return errors::ConditionsNeedUniformAccess();
}

Status CheckConditionsVersion(const Json& policy) {
  if (!HasConditions(policy) || IntOr(policy, "version", 0) == kVersionWithConditions) return Ok{};
  Violations broken;
  broken.AddRule("version", "a policy with conditions has a version of at least 3");
  return broken.AsStatus();
}

}  // namespace caip::gcs
