#include "fakes/gcs/service/object_policies.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "base/json.h"
#include "base/quoting.h"
#include "fakes/gcs/errors.h"
#include "fakes/gcs/service/violations.h"

namespace caip::gcs {
namespace {

constexpr size_t kShownMax = 200;

struct RoleNames {
  const char* in_policy;
  const char* in_list;
};

constexpr RoleNames kRoles[] = {
    {"roles/storage.legacyObjectOwner", "OWNER"},
    {"roles/storage.legacyObjectReader", "READER"},
};

struct Kind {
  std::string_view of_member;
  std::string_view of_entity;
};

// A service account is a user of a list.
constexpr Kind kPeople[] = {
    {"user:", "user-"}, {"serviceAccount:", "user-"}, {"group:", "group-"}, {"domain:", "domain-"}};
constexpr Kind kTeams[] = {{"projectOwner:", "project-owners-"},
                           {"projectEditor:", "project-editors-"},
                           {"projectViewer:", "project-viewers-"}};
constexpr std::string_view kServiceAccounts = ".gserviceaccount.com";

std::string MemberOf(const std::string& entity, const Bucket& bucket) {
  for (const Kind& team : kTeams) {
    if (!entity.starts_with(team.of_entity)) continue;
    const std::string number = entity.substr(team.of_entity.size());
    const bool is_own = number == bucket.project_number && !bucket.project.empty();
    return std::string(team.of_member) + (is_own ? bucket.project : number);
  }
  for (const Kind& person : kPeople) {
    if (!entity.starts_with(person.of_entity)) continue;
    const std::string name = entity.substr(person.of_entity.size());
    const bool is_account =
        person.of_member == kPeople[0].of_member && name.ends_with(kServiceAccounts);
    return std::string(is_account ? kPeople[1].of_member : person.of_member) + name;
  }
  return entity;  // allUsers, allAuthenticatedUsers
}

// "" for a member that no list can have.
std::string EntityOf(const std::string& member, const Bucket& bucket) {
  if (member == "allUsers" || member == "allAuthenticatedUsers") return member;
  for (const Kind& team : kTeams) {
    if (!member.starts_with(team.of_member)) continue;
    const std::string project = member.substr(team.of_member.size());
    return std::string(team.of_entity) +
           (project == bucket.project ? bucket.project_number : project);
  }
  for (const Kind& person : kPeople) {
    if (!member.starts_with(person.of_member)) continue;
    return std::string(person.of_entity) + member.substr(person.of_member.size());
  }
  return "";
}

// The first role of an entity stays.
void AddEntry(std::string entity, const char* role, AccessEntries* entries) {
  const auto is_same = [&](const AccessEntry& entry) { return entry.entity == entity; };
  if (std::any_of(entries->begin(), entries->end(), is_same)) return;
  entries->push_back({std::move(entity), role});
}

void CheckBindingOfObject(const Json& binding, const std::string& path, const Bucket& bucket,
                          Violations* broken) {
  const std::string role = StringOr(binding, "role");
  const auto is_role = [&](const RoleNames& names) { return names.in_policy == role; };
  if (std::none_of(std::begin(kRoles), std::end(kRoles), is_role)) {
    broken->AddRule(path + ".role",
                    Quoted(role.substr(0, kShownMax)) +
                        " cannot be granted on an object; expected roles/storage.legacyObjectOwner "
                        "or roles/storage.legacyObjectReader (grant others on the bucket)");
  }
  if (Member(binding, "condition") != nullptr) {
    broken->Add(path + ".condition", errors::ConditionsNeedUniformAccess());
  }
  const Json& members = binding["members"];
  for (size_t i = 0; i < members.size(); ++i) {
    const auto& member = members[i].get_ref<const std::string&>();
    if (!EntityOf(member, bucket).empty()) continue;
    broken->AddRule(path + ".members[" + std::to_string(i) + "]",
                    Quoted(member.substr(0, kShownMax)) +
                        " cannot be in the policy of an object; expected user:, serviceAccount:, "
                        "group:, domain: or a team of a project, allUsers or "
                        "allAuthenticatedUsers");
  }
}

}  // namespace

Json PolicyOfEntries(const AccessEntries& entries, const Bucket& bucket) {
  Json bindings = Json::array();
  for (const RoleNames& role : kRoles) {
    Json members = Json::array();
    for (const AccessEntry& entry : entries) {
      if (entry.role == role.in_list) members.push_back(MemberOf(entry.entity, bucket));
    }
    if (members.empty()) continue;
    bindings.push_back(Json{{"role", role.in_policy}, {"members", std::move(members)}});
  }
  return {{"bindings", std::move(bindings)}, {"version", 1}};
}

Result<AccessEntries> EntriesOfPolicy(const Json& policy, const Bucket& bucket) {
  const Json& bindings = policy["bindings"];
  Violations broken;
  for (size_t i = 0; i < bindings.size(); ++i) {
    CheckBindingOfObject(bindings[i], "bindings[" + std::to_string(i) + "]", bucket, &broken);
  }
  RETURN_IF_ERROR(broken.AsStatus());
  AccessEntries entries;
  for (const RoleNames& role : kRoles) {
    for (const Json& binding : bindings) {
      if (StringOr(binding, "role") != role.in_policy) continue;
      for (const Json& member : binding["members"]) {
        AddEntry(EntityOf(member.get_ref<const std::string&>(), bucket), role.in_list, &entries);
      }
    }
  }
  RETURN_IF_ERROR(CheckEntries(entries, AccessListKind::kObject));
  return entries;
}

}  // namespace caip::gcs
