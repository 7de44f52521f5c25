#pragma once
// What Cloud Storage returns and keeps after a request, compared with the message types of its API
// description.

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/encoding.h"
#include "base/json.h"
#include "base/time_text.h"
#include "google/transcoder.h"
#include "tests/api/router_client.h"

namespace caip::app {

/// Lists the values of a resource that have another type than the API description says.
class TypeMisfits {
 public:
  explicit TypeMisfits(const Json& schemas) : schemas_(schemas) {}

  /// Each misfit as "acl[0].role: 7". A field that the message does not have is one, too.
  std::vector<std::string> Find(const std::string& schema, const Json& value) {
    found_.clear();
    CheckMessage(schemas_.at(schema), value, schema);
    return found_;
  }

 private:
  void CheckMessage(const Json& message, const Json& value, const std::string& place) {
    const Json* fields = Member(message, "properties");
    if (!value.is_object()) return Add(place, value);
    for (const auto& [name, member] : value.items()) {
      const std::string below = place + "." + name;
      const Json* field = fields ? Member(*fields, name) : nullptr;
      field ? CheckValue(*field, member, below) : Add(below, member);
    }
  }

  void CheckValue(const Json& type, const Json& value, const std::string& place) {
    if (const Json* name = Member(type, "$ref")) {
      return CheckMessage(schemas_.at(name->get<std::string>()), value, place);
    }
    const std::string kind = StringOr(type, "type");
    if (kind == "array") {
      if (!value.is_array()) return Add(place, value);
      for (const Json& entry : value) CheckValue(type.at("items"), entry, place + "[]");
    } else if (kind == "object") {
      if (!value.is_object()) return Add(place, value);
      for (const auto& [name, entry] : value.items()) {
        CheckValue(type.at("additionalProperties"), entry, place + "." + name);
      }
    } else if (!IsScalar(kind, StringOr(type, "format"), value)) {
      Add(place, value);
    }
  }

  static bool IsScalar(const std::string& kind, const std::string& format, const Json& value) {
    if (kind == "boolean") return value.is_boolean();
    if (kind == "integer") return value.is_number_integer();
    if (kind == "number") return value.is_number();
    if (kind == "any") return true;
    if (!value.is_string()) return false;
    const auto& text = value.get_ref<const std::string&>();
    if (format == "int64" || format == "uint64") return google::ReadInteger(value).has_value();
    if (format == "byte") return FromBase64(text).has_value();
    if (format == "date") return ParseRfc3339(text + "T00:00:00Z").has_value();
    if (format == "date-time") return ParseRfc3339(text).has_value();
    return true;
  }

  void Add(const std::string& place, const Json& value) {
    found_.push_back(place + ": " + CompactJson(value).substr(0, 100));
  }

  const Json& schemas_;
  std::vector<std::string> found_;
};

/// The access to this bucket is uniform, as managed folders need it.
inline constexpr char kBucketWithFolders[] = "folders";

/// Reads back what a successful request to Cloud Storage has changed.
class StoredTypes {
 public:
  StoredTypes(const http::Router& router, const Json& schemas)
      : router_(router), misfits_(schemas) {}

  /// `schema` is the message of the request's body. Removes a new notification configuration,
  /// because a bucket has few.
  void ExpectAfter(const std::string& schema, const api::Answer& answer, const std::string& what) {
    static constexpr const char* kConfigs = "/storage/v1/b/bkt/notificationConfigs";
    for (const auto& [target, type] : ReadsAfter(schema)) {
      const api::Answer read = api::AskRouter(router_, "GET", target);
      if (read.status == 200) Expect(type, read.json, what);
    }
    if (schema != "Notification") return;
    api::AskRouter(router_, "DELETE",
                   std::string(kConfigs) + "/" + StringOr(answer.json, "id", "none"));
  }

  void Expect(const std::string& schema, const Json& value, const std::string& what) {
    for (const std::string& misfit : misfits_.Find(schema, value)) ADD_FAILURE() << what << misfit;
  }

 private:
  using Reads = std::vector<std::pair<std::string, std::string>>;  // targets and their messages

  static Reads ReadsAfter(const std::string& schema) {
    const std::string bucket = "/storage/v1/b/bkt";
    const Reads objects = {{bucket + "/o?projection=full&versions=true", "Objects"}};
    static const std::map<std::string, Reads> reads = {
        {"Bucket",
         {{bucket + "?projection=full", "Bucket"},
          {"/storage/v1/b?project=_&projection=full", "Buckets"}}},
        {"Object", objects},
        {"ComposeRequest", objects},
        {"BucketAccessControl", {{bucket + "/acl", "BucketAccessControls"}}},
        {"ObjectAccessControl",
         {{bucket + "/o/obj/acl", "ObjectAccessControls"},
          {bucket + "/defaultObjectAcl", "ObjectAccessControls"}}},
        {"Policy", {{bucket + "/iam", "Policy"}, {bucket + "/o/obj/iam", "Policy"}}},
        {"Notification", {{bucket + "/notificationConfigs", "Notifications"}}},
        {"ManagedFolder",
         {{"/storage/v1/b/" + std::string(kBucketWithFolders) + "/managedFolders",
           "ManagedFolders"}}},
    };
    const auto found = reads.find(schema);
    return found == reads.end() ? Reads{} : found->second;
  }

  const http::Router& router_;
  TypeMisfits misfits_;
};

}  // namespace caip::app
