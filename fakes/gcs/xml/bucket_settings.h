#pragma once
// A bucket's settings as XML documents and as fields of the bucket resource. Private to
// fakes/gcs/xml; pure.

#include <string_view>

#include "base/json.h"
#include "fakes/gcs/xml/xml_text.h"

namespace caip::gcs {

/// One setting: the query parameter that names it, and how it looks in either dialect.
struct BucketSetting {
  const char* name;
  const char* title;  // for people
  XmlElement (*to_xml)(const Json& bucket);
  /// A patch for `bucket`; an element without a name clears the setting. nullptr: read only.
  Result<Json> (*from_xml)(const XmlElement& root, const Json& bucket);
};

/// nullptr: there is no such setting.
const BucketSetting* SettingNamed(std::string_view name);

/// Settings that the service has and this emulator does not, for an honest 501.
bool IsKnownMissingSetting(std::string_view name);

// lifecycle_xml.cc
XmlElement LifecycleToXml(const Json& bucket);
Result<Json> LifecycleFromXml(const XmlElement& root, const Json& bucket);

}  // namespace caip::gcs
