// ?acl and ?defaultObjectAcl: access lists as AccessControlList documents.
#include "fakes/gcs/errors.h"
#include "fakes/gcs/store/bucket_store.h"
#include "fakes/gcs/wire/request_headers.h"
#include "fakes/gcs/xml/document_checks.h"
#include "fakes/gcs/xml/object_headers.h"
#include "fakes/gcs/xml/xml_errors.h"
#include "fakes/gcs/xml/xml_methods.h"

namespace caip::gcs {
namespace {

struct XmlRole {
  const char* json;
  const char* xml;
};
constexpr XmlRole kXmlRoles[] = {
    {"OWNER", "FULL_CONTROL"}, {"WRITER", "WRITE"}, {"READER", "READ"}};

struct Scope {
  const char* entity;   // prefix of the entity in JSON
  const char* type;     // of the Scope element
  const char* element;  // the element with the rest of the entity, or nullptr
};
constexpr Scope kScopes[] = {
    {"allUsers", "AllUsers", nullptr},
    {"allAuthenticatedUsers", "AllAuthenticatedUsers", nullptr},
    {"domain-", "GroupByDomain", "Domain"},
    {"user-", "UserByEmail", "EmailAddress"},
    {"group-", "GroupByEmail", "EmailAddress"},
};

XmlElement ScopeOf(const std::string& entity) {
  XmlElement scope("Scope");
  for (const Scope& known : kScopes) {
    if (!entity.starts_with(known.entity)) continue;
    const std::string rest = entity.substr(std::string_view(known.entity).size());
    const bool has_mail = rest.find('@') != std::string::npos;
    if (known.element == nullptr && !rest.empty()) continue;
    if (known.element && known.type != std::string_view("GroupByDomain") && !has_mail) continue;
    scope.attributes.emplace_back("type", known.type);
    if (known.element) scope.Add(known.element, rest);
    return scope;
  }
  // project-owners-123, user-<id>, group-<id>
  const bool user = entity.starts_with("user-");
  scope.attributes.emplace_back("type", user ? "UserById" : "GroupById");
  scope.Add("ID", user ? entity.substr(5) : entity);
  return scope;
}

Result<std::string> EntityOf(const XmlElement& scope) {
  std::string type;
  for (const auto& [name, value] : scope.attributes) {
    if (name == "type" || name.ends_with(":type")) type = value;
  }
  for (const Scope& known : kScopes) {
    if (type != known.type) continue;
    if (known.element == nullptr) return std::string(known.entity);
    const std::string rest = scope.WordOf(known.element);
    if (rest.empty()) break;
    return known.entity + rest;
  }
  const std::string id = scope.WordOf("ID");
  if (type == "UserById" && !id.empty()) return "user-" + id;
  if (type == "GroupById" && !id.empty()) {
    return id.starts_with("project-") || id.starts_with("group-") ? id : "group-" + id;
  }
  return xml_errors::MalformedXml("a Scope of type '" + type + "' is unknown or incomplete");
}

Result<AccessEntries> EntriesFromXml(const XmlElement& root) {
  if (root.name != "AccessControlList") {
    return xml_errors::MalformedXml("expected an AccessControlList");
  }
  RETURN_IF_ERROR(CheckChildren(root, {"Owner", "Entries"}));
  AccessEntries list;
  const XmlElement* entries = root.Child("Entries");
  if (entries == nullptr) return list;
  RETURN_IF_ERROR(CheckChildren(*entries, {"Entry"}));
  for (const XmlElement* entry : entries->All("Entry")) {
    RETURN_IF_ERROR(CheckChildren(*entry, {"Scope", "Permission"}));
    const XmlElement* scope = entry->Child("Scope");
    if (scope == nullptr) return xml_errors::MalformedXml("an Entry needs a Scope");
    ASSIGN_OR_RETURN(const std::string entity, EntityOf(*scope));
    std::string role;
    for (const XmlRole& known : kXmlRoles) {
      if (entry->WordOf("Permission") == known.xml) role = known.json;
    }
    if (role.empty()) return xml_errors::MalformedXml("an Entry's Permission is unknown");
    list.push_back({entity, role});
  }
  return list;
}

XmlElement ListToXml(const AccessEntries& entries, const Bucket& bucket) {
  XmlElement root("AccessControlList");
  root.Add("Owner").Add("ID", "project-owners-" + bucket.project_number);
  XmlElement& list = root.Add("Entries");
  for (const auto& [entity, role] : entries) {
    std::string permission = "READ";
    for (const XmlRole& known : kXmlRoles) {
      if (role == known.json) permission = known.xml;
    }
    XmlElement& entry = list.Add("Entry");
    entry.Add(ScopeOf(entity));
    entry.Add("Permission", permission);
  }
  return root;
}

// The list that a request sets: the canned list that a header names, or the list in the body.
struct RequestedList {
  std::optional<std::string> canned;
  AccessEntries entries;
};

Result<RequestedList> RequestedListOf(const XmlCall& call, AccessListKind kind) {
  RequestedList asked;
  const std::string canned = Extension(call.request, "acl");
  if (!canned.empty()) {
    asked.canned = CannedAcl(canned);
    return asked;
  }
  ASSIGN_OR_RETURN(const XmlElement body, XmlBody(call.request));
  ASSIGN_OR_RETURN(asked.entries, EntriesFromXml(body));
  RETURN_IF_ERROR(CheckEntries(asked.entries, kind));
  return asked;
}

Result<http::Response> ReadList(const XmlCall& call, AccessListKind kind) {
  ASSIGN_OR_RETURN(const auto generation,
                   ParseGeneration("generation", call.request.Query("generation")));
  const bool of_object = kind == AccessListKind::kObject;
  RETURN_IF_ERROR(call.InjectFault(of_object ? "storage.objects.get" : "storage.buckets.get"));
  const Version version{.generation = generation.value_or(0)};
  ASSIGN_OR_RETURN(const AccessList list,
                   call.storage().GetAccessList({kind, call.object(), version}));
  return XmlResponse(ListToXml(list.entries, list.bucket));
}

// https://cloud.google.com/storage/docs/uniform-bucket-level-access
Status CheckHasLists(const XmlCall& call, AccessListKind kind) {
  ASSIGN_OR_RETURN(const Bucket bucket, call.storage().GetBucket(call.place.bucket));
  if (!RulesOf(bucket).uniform_access) return Ok{};
  return errors::UniformAccess(kind == AccessListKind::kObject ? errors::ListUse::kChangeObject
                                                               : errors::ListUse::kChangeBucket);
}

Status WriteObjectList(const XmlCall& call, const RequestedList& asked) {
  ASSIGN_OR_RETURN(const Preconditions conditions, PreconditionHeaders(call.request));
  ASSIGN_OR_RETURN(const auto generation,
                   ParseGeneration("generation", call.request.Query("generation")));
  RETURN_IF_ERROR(call.InjectFault("storage.objects.patch"));
  const auto change = [&](ObjectInfo* object) -> Status {
    AccessEntries entries = asked.entries;
    if (asked.canned) {
      ASSIGN_OR_RETURN(entries, PredefinedEntries(*asked.canned, AccessListKind::kObject));
    }
    object->acl.clear();
    if (!entries.empty()) SetObjectEntries(entries, object);
    return Ok{};
  };
  const Version version{.generation = generation.value_or(0)};
  RETURN_IF_ERROR(call.storage().ChangeObject(call.object(), version, conditions, change));
  return Ok{};
}

Status WriteBucketList(const XmlCall& call, const RequestedList& asked, bool of_new_objects) {
  ASSIGN_OR_RETURN(const Preconditions conditions, PreconditionHeaders(call.request));
  RETURN_IF_ERROR(call.InjectFault("storage.buckets.patch"));
  const auto change = [&](Bucket* bucket) -> Status {
    if (asked.canned) {
      return of_new_objects ? ApplyPredefined(std::nullopt, asked.canned, bucket)
                            : ApplyPredefined(asked.canned, std::nullopt, bucket);
    }
    of_new_objects ? SetNewObjectEntries(asked.entries, bucket)
                   : SetBucketEntries(asked.entries, bucket);
    return Ok{};
  };
  RETURN_IF_ERROR(call.storage().ChangeBucket(call.place.bucket, conditions, change));
  return Ok{};
}

}  // namespace

Result<http::Response> AccessListXml(const XmlCall& call, const std::string& field) {
  const std::string& method = call.request.method;
  const bool of_object = !call.place.object.empty();
  const bool of_new_objects = !of_object && field != "acl";
  const AccessListKind kind = of_object        ? AccessListKind::kObject
                              : of_new_objects ? AccessListKind::kNewObjects
                                               : AccessListKind::kBucket;
  if (method == "GET" || method == "HEAD") return ReadList(call, kind);
  if (method != "PUT") return xml_errors::MethodNotAllowed(method, "an access control list");
  ASSIGN_OR_RETURN(const RequestedList asked, RequestedListOf(call, kind));
  RETURN_IF_ERROR(CheckHasLists(call, kind));
  RETURN_IF_ERROR(of_object ? WriteObjectList(call, asked)
                            : WriteBucketList(call, asked, of_new_objects));
  return EmptyResponse(200);
}

}  // namespace caip::gcs
