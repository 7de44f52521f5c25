// ?acl and ?defaultObjectAcl: JSON's lists of {entity, role} as AccessControlList.
#include "fakes/gcs/xml/object_headers.h"
#include "fakes/gcs/xml/xml_methods.h"

namespace caip::gcs {
namespace {

constexpr char kOwner[] = "caip-owner";

struct Role {
  const char* json;
  const char* xml;
};
constexpr Role kAccessListsRoles[] = {
    {"OWNER", "FULL_CONTROL"}, {"WRITER", "WRITE"}, {"READER", "READ"}};

struct Scope {
  const char* entity;   // how JSON's entity begins
  const char* type;     // of the Scope element
  const char* element;  // that holds the rest; nullptr: there is none
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
    const std::string rest = scope.TextOf(known.element);
    if (rest.empty()) break;
    return known.entity + rest;
  }
  const std::string id = scope.TextOf("ID");
  if (type == "UserById" && !id.empty()) return "user-" + id;
  if (type == "GroupById" && !id.empty()) {
    return id.starts_with("project-") || id.starts_with("group-") ? id : "group-" + id;
  }
  return Error{Code::kInvalidArgument, "a Scope of type '" + type + "' is unknown or incomplete"};
}

Result<Json> EntriesOf(const XmlElement& root) {
  if (root.name != "AccessControlList") {
    return Error{Code::kInvalidArgument, "expected an AccessControlList"};
  }
  Json list = Json::array();
  const XmlElement* entries = root.Child("Entries");
  if (entries == nullptr) return list;
  for (const XmlElement* entry : entries->All("Entry")) {
    const XmlElement* scope = entry->Child("Scope");
    if (scope == nullptr) return Error{Code::kInvalidArgument, "an Entry needs a Scope"};
    ASSIGN_OR_RETURN(const std::string entity, EntityOf(*scope));
    std::string role;
    for (const Role& known : kAccessListsRoles) {
      if (entry->TextOf("Permission") == known.xml) role = known.json;
    }
    if (role.empty()) return Error{Code::kInvalidArgument, "an Entry's Permission is unknown"};
    list.push_back(Json{{"entity", entity}, {"role", role}});
  }
  return list;
}

// A resource without a list (uniform access) belongs to its owner alone.
XmlElement ListOf(const Json& resource, const std::string& field) {
  XmlElement root("AccessControlList");
  const Json* owner = Member(resource, "owner");
  root.Add("Owner").Add("ID", owner ? StringOr(*owner, "entity", kOwner) : kOwner);
  XmlElement& entries = root.Add("Entries");
  const auto add = [&](const XmlElement& scope, const std::string& permission) {
    XmlElement& entry = entries.Add("Entry");
    entry.Add(scope);
    entry.Add("Permission", permission);
  };
  const Json* list = Member(resource, field);
  if (list == nullptr || !list->is_array() || list->empty()) {
    add(ScopeOf(kOwner), "FULL_CONTROL");
    return root;
  }
  for (const Json& item : *list) {
    std::string permission = "READ";
    for (const Role& known : kAccessListsRoles) {
      if (StringOr(item, "role") == known.json) permission = known.xml;
    }
    add(ScopeOf(StringOr(item, "entity")), permission);
  }
  return root;
}

}  // namespace

// `field`: "acl" of an object or bucket, "defaultObjectAcl" of a bucket.
http::Response AccessListXml(const XmlCall& call, const std::string& field) {
  const bool of_object = !call.place.object.empty();
  const std::string path = of_object ? ObjectPath(call.place) : BucketPath(call.place.bucket);
  QueryList query = {{"projection", "full"}};
  if (of_object && call.request.HasQuery("generation")) {
    query.emplace_back("generation", call.request.Query("generation"));
  }
  if (call.request.method == "GET" || call.request.method == "HEAD") {
    const JsonAnswer answer = call.Json("GET", path, std::move(query));
    if (!answer.ok()) return call.Failure(answer.response);
    return XmlResponse(ListOf(answer.json, field));
  }
  if (call.request.method != "PUT") {
    return ToResponse(xml_errors::MethodNotAllowed(call.request.method, "an access control list"));
  }
  Json patch = Json::object();
  if (const std::string canned = Extension(call.request, "acl"); !canned.empty()) {
    query.emplace_back(field == "acl" ? "predefinedAcl" : "predefinedDefaultObjectAcl",
                       CannedAcl(canned));
  } else {
    const auto body = XmlBody(call.request);
    if (!body.ok()) return MalformedXml(body.error());
    auto entries = EntriesOf(*body);
    if (!entries.ok()) return MalformedXml(entries.error());
    patch[field] = std::move(*entries);
  }
  for (auto& condition : PreconditionQuery(call.request)) query.push_back(std::move(condition));
  const JsonAnswer answer = call.Json("PATCH", path, std::move(query), patch);
  return answer.ok() ? Nothing(200) : call.Failure(answer.response);
}

}  // namespace caip::gcs
