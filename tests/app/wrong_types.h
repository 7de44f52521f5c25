#pragma once
// Makes request bodies with values of the wrong type, from the message types of a discovery
// document.

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/text.h"

namespace caip::app {

/// A body that has one unsuitable value at one place, or nothing unsuitable if the value fits.
struct WrongBody {
  std::string place;  // "policy.bindings[0].members"
  std::string text;   // JSON, or nearly JSON
};

/// Lists the bodies for one message type.
class WrongBodies {
 public:
  WrongBodies(const Json& schemas, std::function<void(const WrongBody&)> use)
      : schemas_(schemas), use_(std::move(use)) {}

  /// For each field of the message, and the fields of its messages, one body for each value. The
  /// rest of the body is `base`.
  void Make(const std::string& schema, const Json& base) {
    base_ = base;
    AtMessage(schema, "", [](const Json& value) { return value; });
  }

 private:
  using Wrap = std::function<Json(const Json&)>;

  // JSON cannot express two of the values: bytes that are not UTF-8, and a number beyond all types.
  // These words stand for them until the body is text.
  static constexpr const char* kBytes = "@bytes@";
  static constexpr const char* kHuge = "@huge@";
  static constexpr int kDepthMax = 6;
  static constexpr int kSameSchemaMax = 1;

  static const std::vector<Json>& Values() {
    static const std::vector<Json> values = {nullptr,
                                             true,
                                             -5,
                                             1.5,
                                             int64_t{1} << 31,
                                             uint64_t{1} << 63,
                                             "",
                                             "-5",
                                             "99999999999999999999",
                                             kBytes,
                                             kHuge,
                                             Json::array({nullptr}),
                                             Json::array({Json::array({"text", 0})}),
                                             Json::object(),
                                             Json{{"a", Json{{"b", Json::array({nullptr})}}}}};
    return values;
  }

  // The base with the values of `change`. Arrays are merged element by element.
  static Json Merged(Json base, const Json& change) {
    if (base.is_object() && change.is_object()) {
      for (const auto& [name, value] : change.items()) {
        base[name] = base.contains(name) ? Merged(base[name], value) : value;
      }
      return base;
    }
    if (base.is_array() && change.is_array() && !base.empty() && change.size() == 1) {
      base[0] = Merged(base[0], change[0]);
      return base;
    }
    return change;
  }

  void Use(const std::string& place, const Json& change) {
    std::string text = CompactJson(Merged(base_, change));
    text = ReplaceAll(text, kBytes, "\xff\xc0\x80");
    use_({place, ReplaceAll(text, "\"" + std::string(kHuge) + "\"", "1e999")});
  }

  void AtMessage(const std::string& schema, const std::string& place, const Wrap& wrap) {
    const Json* type = Member(schemas_, schema);
    const Json* fields = type ? Member(*type, "properties") : nullptr;
    if (!fields || depth_ == kDepthMax || inside_[schema] > kSameSchemaMax) return;
    ++depth_;
    ++inside_[schema];
    for (const auto& [name, field] : fields->items()) {
      AtValue(field, place.empty() ? name : place + "." + name,
              [&wrap, &name = name](const Json& value) {
                return wrap(Json{{name, value}});
              });
    }
    --inside_[schema];
    --depth_;
  }

  void AtValue(const Json& type, const std::string& place, const Wrap& wrap) {
    for (const Json& value : Values()) Use(place, wrap(value));
    if (const Json* message = Member(type, "$ref")) {
      AtMessage(message->get<std::string>(), place, wrap);
    } else if (const Json* items = Member(type, "items")) {
      AtValue(*items, place + "[0]",
              [&wrap](const Json& value) { return wrap(Json::array({value})); });
    } else if (const Json* entries = Member(type, "additionalProperties")) {
      AtValue(*entries, place + ".key", [&wrap](const Json& value) {
        return wrap(Json{{"key", value}});
      });
    }
  }

  const Json& schemas_;
  std::function<void(const WrongBody&)> use_;
  Json base_;
  int depth_ = 0;
  std::map<std::string, int> inside_;  // how often each schema encloses the current place
};

}  // namespace caip::app
