#include "emulator/api/ml/iam.h"

#include <algorithm>
#include <array>
#include <set>

#include "base/encoding.h"
#include "base/errors.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/text.h"
#include "emulator/api/discovery/api_description.h"
#include "emulator/api/discovery/json_schemas.h"
#include "emulator/api/errors.h"
#include "emulator/api/json_messages.h"
#include "emulator/api/ml/ml_routes.h"
#include "google/errors.h"
#include "google/transcoder.h"
#include "ml/errors.h"

namespace caip::api {
namespace {

constexpr size_t kPolicyBytesMax = 1 << 20;
constexpr const char* kEtagOfNone = "ACAB";  // the service's etag of a policy that was never set

// A hash of the old etag and the new policy, so that restoring a policy does not restore its etag.
std::string NextEtag(const std::string& previous, const Json& policy) {
  return Base64(Sha256(previous + CompactJson(policy)).substr(0, 8));
}

using Violations = std::vector<FieldViolation>;

// All permissions of one job. https://cloud.google.com/ml-engine/docs/access-control
constexpr std::array<std::string_view, 5> kPermissions = {"ml.jobs.cancel", "ml.jobs.get",
                                                          "ml.jobs.getIamPolicy",
                                                          "ml.jobs.setIamPolicy", "ml.jobs.update"};

constexpr std::array<std::string_view, 4> kMaskPaths = {"bindings", "etag", "version",
                                                        "auditConfigs"};

bool IsVersion(long long version) { return version == 0 || version == 1 || version == 3; }

// roles/NAME, projects/P/roles/NAME, organizations/O/roles/NAME.
bool IsRole(std::string_view role) {
  std::vector<std::string> parts = Split(role, '/');
  if (std::any_of(parts.begin(), parts.end(), [](const auto& part) { return part.empty(); })) {
    return false;
  }
  if (parts.size() == 2) return parts[0] == "roles";
  return parts.size() == 4 && (parts[0] == "projects" || parts[0] == "organizations") &&
         parts[2] == "roles";
}

bool IsMember(std::string_view member) {
  if (member == "allUsers" || member == "allAuthenticatedUsers") return true;
  if (member.starts_with("deleted:")) member.remove_prefix(8);
  if (member.starts_with("principal:") || member.starts_with("principalSet:")) {
    return member.find("://") != std::string_view::npos;
  }
  static const std::set<std::string_view> kTypes = {
      "user",         "serviceAccount", "group",        "domain",
      "projectOwner", "projectEditor",  "projectViewer"};
  const size_t colon = member.find(':');
  return colon != std::string_view::npos && colon + 1 < member.size() &&
         kTypes.contains(member.substr(0, colon));
}

void CheckBindings(const Json& policy, Violations& violations) {
  const Json* bindings = Member(policy, "bindings");
  bool conditions = false;
  for (const Json& binding : bindings ? *bindings : Json::array()) {
    const std::string role = StringOr(binding, "role");
    if (!IsRole(role)) violations.push_back(errors::PolicyRoleMalformed(role));
    const Json* members = Member(binding, "members");
    if (!members || members->empty()) violations.push_back(errors::PolicyMembersMissing(role));
    for (const Json& member : members ? *members : Json::array()) {
      const std::string text = member.get<std::string>();
      if (!IsMember(text)) violations.push_back(errors::PolicyMemberMalformed(text));
    }
    conditions = conditions || Member(binding, "condition") != nullptr;
  }
  const long long version = IntOr(policy, "version", 0);
  if (!IsVersion(version)) {
    violations.push_back(errors::PolicyVersionUnknown("policy.version", version));
  } else if (conditions && version != 3) {
    violations.push_back(errors::PolicyConditionNeedsVersion());
  }
}

// Reads the paths of the mask in lowerCamelCase; bindings and etag if there is no mask.
Result<std::set<std::string>> ReadPolicyMask(const Json& body) {
  const std::string mask = StringOr(body, "updateMask");
  std::set<std::string> paths;
  for (const std::string& word : Split(mask, ',')) {
    std::string path(Trim(word));
    if (path.empty()) continue;
    if (path == "audit_configs") path = "auditConfigs";
    if (std::find(kMaskPaths.begin(), kMaskPaths.end(), path) == kMaskPaths.end()) {
      return google::errors::Violations({errors::PolicyMaskIllegal(path)});
    }
    paths.insert(path);
  }
  if (paths.empty()) paths = {"bindings", "etag"};
  return paths;
}

// GET v1/projects/{project}/jobs/{job}:getIamPolicy
Result<Json> GetPolicy(engine::Engine& engine, const PolicyStore& policies,
                       const http::Request& request, const http::PathParameters& at) {
  constexpr const char* kVersion = "options.requestedPolicyVersion";
  const Json asked = {{"version", request.Query(kVersion)}};
  if (const long long version = IntOr(asked, "version", request.HasQuery(kVersion) ? -1 : 0);
      !IsVersion(version)) {
    return google::errors::Violations(
        {errors::PolicyVersionUnknown("options.requested_policy_version", version)});
  }
  RETURN_IF_ERROR(FindMlJob(engine, at.At("project"), at.At("job")));
  return policies.Get(at.At("project"), at.At("job"));
}

// Answers show no such member (docs/service/api.md, section 1).
bool IsDefault(const Json& value) { return value == 0 || value == Json::array(); }

// Returns `present` with the fields of `sent` that the mask names. The version belongs to the
// bindings. The etag of `sent` is always kept, even if the mask does not name it, so that it guards
// the change.
Json MaskedPolicy(Json present, const Json& sent, const std::set<std::string>& mask) {
  for (const std::string_view path : kMaskPaths) {
    const std::string name(path);
    const bool with = mask.contains(name) || (name == "version" && mask.contains("bindings"));
    if (!with && name != "etag") continue;
    present.erase(name);
    const Json* value = Member(sent, name);
    if (value && !IsDefault(*value)) present[name] = *value;
  }
  return present;
}

Result<Json> ReadPolicy(const Json& body) {
  const Json* sent = Member(body, "policy");
  if (!sent || sent->is_null()) return google::errors::Violations({errors::PolicyMissing()});
  Json policy = *sent;
  if (Json* version = policy.contains("version") ? &policy["version"] : nullptr) {
    *version = google::ReadInteger(*version).value_or(0);  // it may have been a text
  }
  Violations violations;
  CheckBindings(policy, violations);
  if (!violations.empty()) return google::errors::Violations(std::move(violations));
  return policy;
}

// POST v1/projects/{project}/jobs/{job}:setIamPolicy
Result<Json> SetPolicy(engine::Engine& engine, PolicyStore& policies, const http::Request& request,
                       const http::PathParameters& at) {
  constexpr std::string_view kMessage = "GoogleIamV1__SetIamPolicyRequest";
  const Json& schemas = ApiDescription::Ml().schemas();
  ASSIGN_OR_RETURN(const Json sent, ReadJsonObject(request));
  const Json body = WithJsonNames(sent, schemas, kMessage);
  RETURN_IF_ERROR(CheckMessage(body, schemas, kMessage));
  ASSIGN_OR_RETURN(const std::set<std::string> mask, ReadPolicyMask(body));
  ASSIGN_OR_RETURN(const Json policy, ReadPolicy(body));
  RETURN_IF_ERROR(FindMlJob(engine, at.At("project"), at.At("job")));
  return policies.Change(at.At("project"), at.At("job"), [&](Json present) {
    return MaskedPolicy(std::move(present), policy, mask);
  });
}

std::vector<std::string> ReadPermissions(const Json& body, Violations& violations) {
  std::vector<std::string> names;
  const Json* permissions = Member(body, "permissions");
  for (const Json& permission : permissions ? *permissions : Json::array()) {
    names.push_back(permission.get<std::string>());
    const std::string& name = names.back();
    if (name.find('*') != std::string::npos) {
      violations.push_back(errors::PermissionWildcard(name));
    } else if (std::find(kPermissions.begin(), kPermissions.end(), name) == kPermissions.end()) {
      violations.push_back(errors::PermissionUnknown(name));
    }
  }
  return names;
}

// POST v1/projects/{project}/jobs/{job}:testIamPermissions. Callers have all permissions of a job
// that exists, and none of another.
Result<Json> TestPermissions(engine::Engine& engine, const http::Request& request,
                             const http::PathParameters& at) {
  ASSIGN_OR_RETURN(const Json body, ReadJsonObject(request));
  RETURN_IF_ERROR(
      CheckMessage(body, ApiDescription::Ml().schemas(), "GoogleIamV1__TestIamPermissionsRequest"));
  Violations violations;
  const std::vector<std::string> held = ReadPermissions(body, violations);
  if (!violations.empty()) return google::errors::Violations(std::move(violations));
  const auto job = FindMlJob(engine, at.At("project"), at.At("job"));
  if (!job.ok() && job.error().code != Code::kNotFound) return job.error();
  if (!job.ok() || held.empty()) return Json::object();
  return Json{{"permissions", held}};
}

}  // namespace

// The file name is a hash, so that no project name can lead out of the directory.
Path PolicyStore::FileOf(const std::string& project, const std::string& job_id) const {
  const std::string name = "projects/" + project + "/jobs/" + job_id;
  return directory_ / (Sha256Hex(name).substr(0, 32) + ".json");
}

Result<Json> PolicyStore::Read(const Path& file) const {
  auto text = ReadFileUpTo(file, kPolicyBytesMax);
  if (!text.ok() && text.error().code == Code::kNotFound) return Json{{"etag", kEtagOfNone}};
  if (!text.ok()) return text.error();
  auto policy = ParseJson(*text);
  if (!policy.ok() || !policy->is_object()) return errors::PolicyBroken(file.string());
  return policy;
}

Result<Json> PolicyStore::Get(const std::string& project, const std::string& job_id) const {
  std::lock_guard lock(mutex_);
  return Read(FileOf(project, job_id));
}

Status PolicyStore::Remove(const std::string& project, const std::string& job_id) {
  std::lock_guard lock(mutex_);
  const Path file = FileOf(project, job_id);
  std::error_code error;
  std::filesystem::remove(file, error);
  if (error) return CannotWrite(file, error.value());
  return Ok{};
}

Result<Json> PolicyStore::Change(const std::string& project, const std::string& job_id,
                                 const std::function<Json(Json present)>& change) {
  std::lock_guard lock(mutex_);
  const Path file = FileOf(project, job_id);
  ASSIGN_OR_RETURN(Json present, Read(file));
  const std::string etag = StringOr(present, "etag");
  present.erase("etag");
  Json policy = change(std::move(present));
  const std::string sent = StringOr(policy, "etag");
  // Bytes: clients of apitools send them back in the other alphabet of base64, with - and _.
  if (!sent.empty() && FromBase64(sent) != FromBase64(etag)) return errors::PolicyEtagStale();
  policy["etag"] = NextEtag(etag, policy);
  RETURN_IF_ERROR(MakeDirectories(directory_));
  RETURN_IF_ERROR(WriteFileDurably(file, PrettyJson(policy) + "\n"));
  return policy;
}

std::vector<http::Route> IamRoutes(engine::Engine& engine, PolicyStore& policies) {
  const std::string job = "/v1/projects/{project}/jobs/{job}";
  return {
      {"GET", job + ":getIamPolicy", "ml.projects.jobs.getIamPolicy",
       [&engine, &policies](const http::Request& request, const http::PathParameters& at) {
         return Respond(request, GetPolicy(engine, policies, request, at));
       }},
      {"POST", job + ":setIamPolicy", "ml.projects.jobs.setIamPolicy",
       [&engine, &policies](const http::Request& request, const http::PathParameters& at) {
         return Respond(request, SetPolicy(engine, policies, request, at));
       }},
      {"POST", job + ":testIamPermissions", "ml.projects.jobs.testIamPermissions",
       [&engine](const http::Request& request, const http::PathParameters& at) {
         return Respond(request, TestPermissions(engine, request, at));
       }},
  };
}

}  // namespace caip::api
