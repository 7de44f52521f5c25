#include "fakes/gcs/service/notification_checks.h"

#include <algorithm>
#include <string>
#include <string_view>

#include "base/json.h"
#include "base/text.h"
#include "fakes/gcs/errors.h"
#include "fakes/gcs/service/resource_fields.h"
#include "fakes/gcs/service/stored_values.h"

namespace caip::gcs {
namespace {

using namespace resource_fields;  // NOLINT: the language of the table

// https://cloud.google.com/storage/quotas#buckets
constexpr size_t kNotificationsMax = 100;
constexpr size_t kNotificationsOfEventMax = 10;
constexpr size_t kAttributesMax = 10;
// Pub/Sub's own limits: https://cloud.google.com/pubsub/quotas#resource_limits
constexpr size_t kAttributeKeyBytesMax = 256;
constexpr size_t kAttributeValueBytesMax = 1024;

constexpr std::string_view kPayloads[] = {"JSON_API_V1", "NONE"};
// https://cloud.google.com/storage/docs/pubsub-notifications#events
constexpr std::string_view kEvents[] = {"OBJECT_FINALIZE", "OBJECT_METADATA_UPDATE",
                                        "OBJECT_DELETE", "OBJECT_ARCHIVE"};
constexpr std::string_view kPubSub = "//pubsub.googleapis.com/";

// True for projects/P/topics/T, with or without the name of the API before it.
bool IsTopic(std::string_view topic) {
  if (topic.starts_with(kPubSub)) topic.remove_prefix(kPubSub.size());
  const std::vector<std::string> parts = Split(topic, '/');
  return parts.size() == 4 && parts[0] == "projects" && !parts[1].empty() && parts[2] == "topics" &&
         !parts[3].empty();
}

std::string TopicRule(std::string_view topic) {
  if (IsTopic(topic)) return "";
  return "Invalid Google Cloud Pub/Sub topic. It should look like "
         "'//pubsub.googleapis.com/projects/*/topics/*'";
}

std::string AttributeKeyRule(std::string_view key) {
  if (!key.empty() && key.size() <= kAttributeKeyBytesMax) return "";
  return "a key has 1 to 256 bytes";
}

std::string AttributeValueRule(std::string_view value) {
  return value.size() <= kAttributeValueBytesMax ? "" : "a value has at most 1024 bytes";
}

constexpr ResourceField kNotificationFields[] = {
    Required(Checked("topic", TopicRule)),
    Required(OneOf("payload_format", kPayloads)),
    ListOf(OneOf("event_types", kEvents)),
    {.name = "custom_attributes",
     .type = kTextMap,
     .entries_max = kAttributesMax,
     .check = AttributeValueRule,
     .key_check = AttributeKeyRule},
    {"object_name_prefix", kText},
};
constexpr ResourceMessage kNotification{kNotificationFields};

// A configuration without event types is for all events.
bool IsForEvent(const Json& notification, std::string_view event) {
  const Json* types = Member(notification, "event_types");
  if (types == nullptr || !types->is_array() || types->empty()) return true;
  return std::find(types->begin(), types->end(), event) != types->end();
}

Json WithoutRepetitions(const Json& events) {
  Json kept = Json::array();
  for (const Json& event : events) {
    if (std::find(kept.begin(), kept.end(), event) == kept.end()) kept.push_back(event);
  }
  return kept;
}

std::string PrefixOf(const Json& notification) {
  return StringOr(notification, "object_name_prefix");
}

// How many configurations an event of the object `name` triggers.
size_t CountTriggered(const Json& kept, std::string_view event, std::string_view name) {
  const auto count = std::count_if(kept.begin(), kept.end(), [&](const Json& notification) {
    return IsForEvent(notification, event) && name.starts_with(PrefixOf(notification));
  });
  return static_cast<size_t>(count);
}

// True if some object has an event that triggers `wanted` and the most configurations that are
// allowed already. Of all objects, those whose names are prefixes of configurations trigger most.
bool Overlaps(const Json& kept, const Json& wanted, std::string_view event) {
  if (!IsForEvent(wanted, event)) return false;
  const std::string prefix = PrefixOf(wanted);
  const auto is_full = [&](const std::string& name) {
    return name.starts_with(prefix) &&
           CountTriggered(kept, event, name) >= kNotificationsOfEventMax;
  };
  return is_full(prefix) || std::any_of(kept.begin(), kept.end(), [&](const Json& notification) {
           return is_full(PrefixOf(notification));
         });
}

}  // namespace

Result<Json> ReadNotification(const Json& body) {
  ASSIGN_OR_RETURN(const Json read, ReadResource(body, kNotification));
  Json wanted = Json::object();
  wanted.merge_patch(read);  // leaves out null, in the attributes, too
  if (wanted.contains("event_types"))
    wanted["event_types"] = WithoutRepetitions(wanted["event_types"]);
  for (const char* name : {"event_types", "custom_attributes"}) {
    if (wanted.contains(name) && wanted[name].empty()) wanted.erase(name);
  }
  const std::string topic = StringOr(wanted, "topic");
  if (!topic.starts_with(kPubSub)) wanted["topic"] = std::string(kPubSub) + topic;
  return wanted;
}

std::optional<Json> ReadableNotification(const Json& stored) {
  const auto is_derived = [](const std::string& name, const Json& value) {
    return value.is_string() &&
           (name == "kind" || name == "id" || name == "etag" || name == "selfLink");
  };
  Json valid = ValidMembers(stored, kNotification, {.is_derived = is_derived}, nullptr);
  if (!valid.contains("topic") || !valid.contains("payload_format")) return std::nullopt;
  return valid;
}

Status CheckNotificationCount(const Json& kept, const Json& wanted) {
  if (kept.size() >= kNotificationsMax) {
    return errors::TooManyEntries("notification configurations", "a bucket", kNotificationsMax);
  }
  const bool overlaps = std::any_of(std::begin(kEvents), std::end(kEvents),
                                    [&](auto event) { return Overlaps(kept, wanted, event); });
  return overlaps ? Status(errors::NotificationsOverlap(kNotificationsOfEventMax)) : Ok{};
}

}  // namespace caip::gcs
