// LifecycleConfiguration: a list of rules, each an action and its conditions.

#include <charconv>

#include "base/json.h"
#include "base/text.h"
#include "fakes/gcs/xml/document_checks.h"
#include "fakes/gcs/xml/xml_errors.h"
#include "fakes/gcs/xml/xml_methods.h"

namespace caip::gcs {
namespace {

// kNames: a list of parts of objects' names, whose blanks are kept. Other values have none.
enum class ValueKind { kNumber, kText, kTruth, kList, kNames };

struct LifecycleCondition {
  const char* xml;
  const char* json;
  ValueKind kind;
};
constexpr LifecycleCondition kLifecycleConditions[] = {
    {"Age", "age", ValueKind::kNumber},
    {"CreatedBefore", "createdBefore", ValueKind::kText},
    {"IsLive", "isLive", ValueKind::kTruth},
    {"NumberOfNewerVersions", "numNewerVersions", ValueKind::kNumber},
    {"DaysSinceNoncurrentTime", "daysSinceNoncurrentTime", ValueKind::kNumber},
    {"NoncurrentTimeBefore", "noncurrentTimeBefore", ValueKind::kText},
    {"DaysSinceCustomTime", "daysSinceCustomTime", ValueKind::kNumber},
    {"CustomTimeBefore", "customTimeBefore", ValueKind::kText},
    {"MatchesStorageClass", "matchesStorageClass", ValueKind::kList},
    {"MatchesPrefix", "matchesPrefix", ValueKind::kNames},
    {"MatchesSuffix", "matchesSuffix", ValueKind::kNames},
};

Result<Json> ConditionFromXml(const XmlElement& element) {
  Json json = Json::object();
  for (const XmlElement& child : element.children) {
    const LifecycleCondition* known = nullptr;
    for (const LifecycleCondition& condition : kLifecycleConditions) {
      if (child.name == condition.xml) known = &condition;
    }
    if (known == nullptr)
      return xml_errors::MalformedXml("the condition '" + child.name + "' is unknown");
    const std::string word(Trim(child.text));
    switch (known->kind) {
      case ValueKind::kNumber: {
        int64_t number = 0;
        const char* end = word.data() + word.size();
        const auto [rest, error] = std::from_chars(word.data(), end, number);
        if (error != std::errc() || rest != end)
          return xml_errors::MalformedXml(child.name + " needs a number");
        json[known->json] = number;
        break;
      }
      case ValueKind::kText:
        json[known->json] = word;
        break;
      case ValueKind::kTruth: {
        ASSIGN_OR_RETURN(json[known->json], ReadTruth(word, child.name));
        break;
      }
      case ValueKind::kList:
        json[known->json].push_back(word);
        break;
      case ValueKind::kNames:
        json[known->json].push_back(child.text);
        break;
    }
  }
  return json;
}

Result<Json> ActionFromXml(const XmlElement& element) {
  if (element.children.size() != 1) return xml_errors::MalformedXml("an Action holds one element");
  const XmlElement& kind = element.children[0];
  if (kind.name == "SetStorageClass") {
    return Json{{"type", kind.name}, {"storageClass", std::string(Trim(kind.text))}};
  }
  if (kind.name == "Delete" || kind.name == "AbortIncompleteMultipartUpload") {
    return Json{{"type", kind.name}};
  }
  return xml_errors::MalformedXml("the action '" + kind.name + "' is unknown");
}

std::string Spelled(const Json& value) {
  return value.is_string() ? value.get<std::string>() : CompactJson(value);
}

void AddCondition(const Json& json, XmlElement* into) {
  for (const LifecycleCondition& condition : kLifecycleConditions) {
    const Json* value = Member(json, condition.json);
    if (value == nullptr) continue;
    if (value->is_array()) {
      for (const Json& item : *value) into->Add(condition.xml, Spelled(item));
    } else {
      into->Add(condition.xml, Spelled(*value));
    }
  }
}

}  // namespace

XmlElement LifecycleToXml(const Json& bucket) {
  XmlElement root("LifecycleConfiguration");
  const Json* lifecycle = Member(bucket, "lifecycle");
  const Json* rules = lifecycle ? Member(*lifecycle, "rule") : nullptr;
  if (rules == nullptr || !rules->is_array()) return root;
  for (const Json& rule : *rules) {
    XmlElement& element = root.Add("Rule");
    XmlElement& action = element.Add("Action");
    if (const Json* kind = Member(rule, "action")) {
      action.Add(StringOr(*kind, "type"), StringOr(*kind, "storageClass"));
    }
    XmlElement& condition = element.Add("Condition");
    if (const Json* json = Member(rule, "condition")) AddCondition(*json, &condition);
  }
  return root;
}

Result<Json> LifecycleFromXml(const XmlElement& root, const Json&) {
  RETURN_IF_ERROR(CheckChildren(root, {"Rule"}));
  Json rules = Json::array();
  for (const XmlElement* rule : root.All("Rule")) {
    RETURN_IF_ERROR(CheckChildren(*rule, {"Action", "Condition"}));
    const XmlElement* action = rule->Child("Action");
    const XmlElement* condition = rule->Child("Condition");
    if (action == nullptr || condition == nullptr) {
      return xml_errors::MalformedXml("a Rule needs an Action and a Condition");
    }
    ASSIGN_OR_RETURN(Json what, ActionFromXml(*action));
    ASSIGN_OR_RETURN(Json when, ConditionFromXml(*condition));
    rules.push_back(Json{{"action", std::move(what)}, {"condition", std::move(when)}});
  }
  if (rules.empty()) return Json{{"lifecycle", nullptr}};
  return Json{{"lifecycle", {{"rule", std::move(rules)}}}};
}

}  // namespace caip::gcs
