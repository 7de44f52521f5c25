// Settings of a bucket, each as an XML document: ?cors, ?lifecycle and so on.
#include <algorithm>

#include "base/json.h"
#include "base/text.h"
#include "fakes/gcs/service/settings.h"
#include "fakes/gcs/xml/document_checks.h"
#include "fakes/gcs/xml/xml_errors.h"
#include "fakes/gcs/xml/xml_methods.h"

namespace caip::gcs {
namespace {

void AddList(const Json& from, const char* field, const char* list, const char* item,
             XmlElement* into) {
  const Json* values = Member(from, field);
  if (values == nullptr || !values->is_array()) return;
  XmlElement& element = into->Add(list);
  for (const Json& value : *values) {
    if (value.is_string()) element.Add(item, value.get<std::string>());
  }
}

// Reads the words of a list. None has outer blanks.
Status ReadList(const XmlElement& from, const char* list, const char* item, const char* field,
                Json* into) {
  const XmlElement* element = from.Child(list);
  if (element == nullptr) return Ok{};
  RETURN_IF_ERROR(CheckChildren(*element, {item}));
  Json values = Json::array();
  for (const XmlElement* value : element->All(item)) {
    values.push_back(std::string(Trim(value->text)));
  }
  (*into)[field] = std::move(values);
  return Ok{};
}

XmlElement CorsToXml(const Json& bucket) {
  XmlElement root("CorsConfig");
  const Json* entries = Member(bucket, "cors");
  if (entries == nullptr || !entries->is_array()) return root;
  for (const Json& entry : *entries) {
    XmlElement& cors = root.Add("Cors");
    AddList(entry, "origin", "Origins", "Origin", &cors);
    AddList(entry, "method", "Methods", "Method", &cors);
    AddList(entry, "responseHeader", "ResponseHeaders", "ResponseHeader", &cors);
    if (Member(entry, "maxAgeSeconds")) {
      cors.Add("MaxAgeSec", std::to_string(IntOr(entry, "maxAgeSeconds", 0)));
    }
  }
  return root;
}

Result<Json> CorsEntry(const XmlElement& cors) {
  RETURN_IF_ERROR(CheckChildren(cors, {"Origins", "Methods", "ResponseHeaders", "MaxAgeSec"}));
  Json entry = Json::object();
  RETURN_IF_ERROR(ReadList(cors, "Origins", "Origin", "origin", &entry));
  RETURN_IF_ERROR(ReadList(cors, "Methods", "Method", "method", &entry));
  RETURN_IF_ERROR(ReadList(cors, "ResponseHeaders", "ResponseHeader", "responseHeader", &entry));
  if (cors.WordOf("MaxAgeSec").empty()) return entry;
  ASSIGN_OR_RETURN(const auto age, ReadNumberOf(cors, "MaxAgeSec"));
  entry["maxAgeSeconds"] = *age;
  return entry;
}

Result<Json> CorsFromXml(const XmlElement& root, const Json&) {
  RETURN_IF_ERROR(CheckChildren(root, {"Cors"}));
  Json entries = Json::array();
  for (const XmlElement* cors : root.All("Cors")) {
    ASSIGN_OR_RETURN(Json entry, CorsEntry(*cors));
    entries.push_back(std::move(entry));
  }
  return Json{{"cors", entries.empty() ? Json() : std::move(entries)}};
}

XmlElement VersioningToXml(const Json& bucket) {
  XmlElement root("VersioningConfiguration");
  const Json* versioning = Member(bucket, "versioning");
  const Json* enabled = versioning ? Member(*versioning, "enabled") : nullptr;
  if (enabled) root.Add("Status", *enabled == true ? "Enabled" : "Suspended");
  return root;
}

Result<Json> VersioningFromXml(const XmlElement& root, const Json&) {
  RETURN_IF_ERROR(CheckChildren(root, {"Status"}));
  ASSIGN_OR_RETURN(const bool enabled,
                   ReadWord(root.WordOf("Status"), "Status", kEnabledOrSuspended));
  return Json{{"versioning", {{"enabled", enabled}}}};
}

XmlElement StorageClassToXml(const Json& bucket) {
  return XmlElement("StorageClass", StringOr(bucket, "storageClass"));
}

Result<Json> StorageClassFromXml(const XmlElement& root, const Json&) {
  RETURN_IF_ERROR(CheckChildren(root, {}));
  const std::string name(Trim(root.text));
  if (name.empty()) return xml_errors::MalformedXml("expected a storage class");
  return Json{{"storageClass", name}};
}

XmlElement LocationToXml(const Json& bucket) {
  return XmlElement("LocationConstraint", StringOr(bucket, "location"));
}

XmlElement LoggingToXml(const Json& bucket) {
  XmlElement root("Logging");
  if (const Json* logging = Member(bucket, "logging")) {
    root.Add("LogBucket", StringOr(*logging, "logBucket"));
    root.Add("LogObjectPrefix", StringOr(*logging, "logObjectPrefix"));
  }
  return root;
}

Result<Json> LoggingFromXml(const XmlElement& root, const Json&) {
  RETURN_IF_ERROR(CheckChildren(root, {"LogBucket", "LogObjectPrefix"}));
  const std::string bucket = root.WordOf("LogBucket");
  if (bucket.empty()) return Json{{"logging", nullptr}};
  return Json{
      {"logging", {{"logBucket", bucket}, {"logObjectPrefix", root.TextOf("LogObjectPrefix")}}}};
}

XmlElement WebsiteToXml(const Json& bucket) {
  XmlElement root("WebsiteConfiguration");
  if (const Json* website = Member(bucket, "website")) {
    const std::string main = StringOr(*website, "mainPageSuffix");
    const std::string missing = StringOr(*website, "notFoundPage");
    if (!main.empty()) root.Add("MainPageSuffix", main);
    if (!missing.empty()) root.Add("NotFoundPage", missing);
  }
  return root;
}

// The document replaces both pages. A patch keeps members that it does not name, so the patch sets
// a missing page to null.
Result<Json> WebsiteFromXml(const XmlElement& root, const Json&) {
  RETURN_IF_ERROR(CheckChildren(root, {"MainPageSuffix", "NotFoundPage"}));
  const std::string main = root.TextOf("MainPageSuffix");
  const std::string missing = root.TextOf("NotFoundPage");
  if (main.empty() && missing.empty()) return Json{{"website", nullptr}};
  Json website = {{"mainPageSuffix", nullptr}, {"notFoundPage", nullptr}};
  if (!main.empty()) website["mainPageSuffix"] = main;
  if (!missing.empty()) website["notFoundPage"] = missing;
  return Json{{"website", std::move(website)}};
}

XmlElement BillingToXml(const Json& bucket) {
  const Json* billing = Member(bucket, "billing");
  const Json* pays = billing ? Member(*billing, "requesterPays") : nullptr;
  XmlElement root("BillingConfiguration");
  root.Add("RequesterPays", pays && *pays == true ? "Enabled" : "Disabled");
  return root;
}

Result<Json> BillingFromXml(const XmlElement& root, const Json&) {
  bool pays = false;
  if (!root.name.empty()) {
    RETURN_IF_ERROR(CheckChildren(root, {"RequesterPays"}));
    ASSIGN_OR_RETURN(pays,
                     ReadWord(root.WordOf("RequesterPays"), "RequesterPays", kEnabledOrDisabled));
  }
  return Json{{"billing", {{"requesterPays", pays}}}};
}

XmlElement EncryptionToXml(const Json& bucket) {
  XmlElement root("EncryptionConfiguration");
  const Json* encryption = Member(bucket, "encryption");
  const std::string key = encryption ? StringOr(*encryption, "defaultKmsKeyName") : "";
  if (!key.empty()) root.Add("DefaultKmsKeyName", key);
  return root;
}

Result<Json> EncryptionFromXml(const XmlElement& root, const Json&) {
  RETURN_IF_ERROR(CheckChildren(root, {"DefaultKmsKeyName"}));
  const std::string key = root.WordOf("DefaultKmsKeyName");
  if (key.empty()) return Json{{"encryption", nullptr}};
  return Json{{"encryption", {{"defaultKmsKeyName", key}}}};
}

XmlElement TaggingToXml(const Json& bucket) {
  XmlElement root("Tagging");
  XmlElement& set = root.Add("TagSet");
  const Json* labels = Member(bucket, "labels");
  if (labels == nullptr || !labels->is_object()) return root;
  for (const auto& [key, value] : labels->items()) {
    XmlElement& tag = set.Add("Tag");
    tag.Add("Key", key);
    tag.Add("Value", value.is_string() ? value.get<std::string>() : "");
  }
  return root;
}

// The new set replaces the old one. A patch keeps labels that it does not name, so the patch sets
// these to null.
Result<Json> TaggingFromXml(const XmlElement& root, const Json& bucket) {
  Json labels = Json::object();
  if (const Json* old = Member(bucket, "labels"); old && old->is_object()) {
    for (const auto& [key, value] : old->items()) labels[key] = nullptr;
  }
  RETURN_IF_ERROR(CheckChildren(root, {"TagSet"}));
  if (const XmlElement* set = root.Child("TagSet")) {
    RETURN_IF_ERROR(CheckChildren(*set, {"Tag"}));
    for (const XmlElement* tag : set->All("Tag")) {
      RETURN_IF_ERROR(CheckChildren(*tag, {"Key", "Value"}));
      if (tag->WordOf("Key").empty()) return xml_errors::MalformedXml("a Tag needs a Key");
      labels[tag->WordOf("Key")] = tag->WordOf("Value");
    }
  }
  return Json{{"labels", std::move(labels)}};
}

/// A setting: the query parameter that names it, and its form in both APIs.
struct BucketSetting {
  const char* name;
  const char* title;  // for error messages
  const char* root;   // the name of the document
  XmlElement (*to_xml)(const Json& bucket);
  /// Returns a patch for `bucket`. An element without a name clears the setting. nullptr: the
  /// setting is read-only.
  Result<Json> (*from_xml)(const XmlElement& root, const Json& bucket);
};

constexpr BucketSetting kXmlSettings[] = {
    {"cors", "CORS", "CorsConfig", CorsToXml, CorsFromXml},
    {"lifecycle", "Lifecycle management", "LifecycleConfiguration", LifecycleToXml,
     LifecycleFromXml},
    {"versioning", "Object versioning", "VersioningConfiguration", VersioningToXml,
     VersioningFromXml},
    {"storageClass", "The default storage class", "StorageClass", StorageClassToXml,
     StorageClassFromXml},
    {"location", "A bucket's location", "LocationConstraint", LocationToXml, nullptr},
    {"logging", "Usage logging", "Logging", LoggingToXml, LoggingFromXml},
    {"websiteConfig", "Website configuration", "WebsiteConfiguration", WebsiteToXml,
     WebsiteFromXml},
    {"website", "Website configuration", "WebsiteConfiguration", WebsiteToXml, WebsiteFromXml},
    {"billing", "Requester pays", "BillingConfiguration", BillingToXml, BillingFromXml},
    {"encryptionConfig", "Default encryption", "EncryptionConfiguration", EncryptionToXml,
     EncryptionFromXml},
    {"encryption", "Default encryption", "EncryptionConfiguration", EncryptionToXml,
     EncryptionFromXml},
    {"tagging", "Labels", "Tagging", TaggingToXml, TaggingFromXml},
};

constexpr const char* kMissingSettings[] = {
    "policy",       "notification",          "replication",
    "inventory",    "requestPayment",        "accelerate",
    "object-lock",  "publicAccessBlock",     "ownershipControls",
    "policyStatus", "customPlacementConfig", "analytics",
    "metrics",      "intelligent-tiering"};

// Settings that each bucket has. DELETE removes none of them.
constexpr std::string_view kLastingSettings[] = {"versioning", "storageClass", "location"};

// The bucket's settings together with storage class, location and labels.
Json DocumentOf(const Bucket& bucket) {
  Json document = SettingsOf(bucket);
  document["storageClass"] = bucket.storage_class;
  document["location"] = bucket.location;
  for (const auto& [key, value] : bucket.labels) document["labels"][key] = value;
  return document;
}

// True if a patched field is missing afterwards: the service ignores that setting.
bool LosesField(const Json& patch, const Json& bucket) {
  for (const auto& [field, value] : patch.items()) {
    const bool asks = !value.is_null() && field != "labels" && value != Json{{"enabled", false}} &&
                      value != Json{{"requesterPays", false}};
    if (asks && Member(bucket, field) == nullptr) return true;
  }
  return false;
}

const BucketSetting* FindSetting(std::string_view name) {
  for (const BucketSetting& setting : kXmlSettings) {
    if (name == setting.name) return &setting;
  }
  return nullptr;
}

// True for settings that Cloud Storage has and this emulator does not have: HTTP status 501.
bool IsKnownMissingSetting(std::string_view name) {
  return std::find(std::begin(kMissingSettings), std::end(kMissingSettings), name) !=
         std::end(kMissingSettings);
}

Result<http::Response> ChangeSetting(const XmlCall& call, const BucketSetting& setting,
                                     const Bucket& bucket) {
  XmlElement root;
  const bool is_put = call.request.method == "PUT";
  if (is_put) {
    ASSIGN_OR_RETURN(root, XmlBody(call.request));
    RETURN_IF_ERROR(CheckRoot(root, setting.root));
  }
  ASSIGN_OR_RETURN(const Json patch, setting.from_xml(root, DocumentOf(bucket)));
  RETURN_IF_ERROR(call.InjectFault("storage.buckets.patch"));
  const auto change = [&](Bucket* changed) { return ApplyBucketFields(patch, changed); };
  ASSIGN_OR_RETURN(const Bucket patched, call.storage().ChangeBucket(bucket.name, {}, change));
  if (LosesField(patch, DocumentOf(patched))) return xml_errors::NotImplemented(setting.title);
  return EmptyResponse(is_put ? 200 : 204);
}

}  // namespace

const char* SettingNameIn(const http::Request& request) {
  for (const auto& [name, value] : request.query) {
    if (name == "acl" || name == "defaultObjectAcl" || FindSetting(name) ||
        IsKnownMissingSetting(name)) {
      return name.c_str();
    }
  }
  return nullptr;
}

Result<http::Response> BucketSettingXml(const XmlCall& call, std::string_view name) {
  if (name == "acl" || name == "defaultObjectAcl") return AccessListXml(call, std::string(name));
  const BucketSetting* setting = FindSetting(name);
  if (!setting) return xml_errors::NotImplemented("A bucket's ?" + std::string(name));
  RETURN_IF_ERROR(call.InjectFault("storage.buckets.get"));
  ASSIGN_OR_RETURN(const Bucket bucket, call.storage().GetBucket(call.place.bucket));
  const std::string& method = call.request.method;
  if (method == "GET" || method == "HEAD") return XmlResponse(setting->to_xml(DocumentOf(bucket)));
  const bool lasts = std::find(std::begin(kLastingSettings), std::end(kLastingSettings), name) !=
                     std::end(kLastingSettings);
  const bool changes = method == "PUT" || (method == "DELETE" && !lasts);
  if (!changes || setting->from_xml == nullptr) {
    return xml_errors::MethodNotAllowed(method, setting->title);
  }
  return ChangeSetting(call, *setting, bucket);
}

}  // namespace caip::gcs
