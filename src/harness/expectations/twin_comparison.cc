#include "harness/expectations/twin_comparison.h"

#include <algorithm>
#include <cmath>

#include "harness/expectations/expectation_texts.h"
#include "harness/faults/trigger.h"
#include "harness/faults/trigger_reader.h"

namespace caip::harness {
namespace {

bool AnyMatches(const std::vector<std::string>& globs, const std::string& name) {
  return std::any_of(globs.begin(), globs.end(),
                     [&](const std::string& glob) { return GlobMatches(glob, name); });
}

std::vector<std::string> GlobsOf(const Cursor& cursor) {
  std::vector<std::string> globs;
  for (const Cursor& element : cursor.Elements()) {
    globs.push_back(ObjectGlob(element.Text()));
  }
  return globs;
}

double ReadTolerance(const Cursor& cursor) {
  const double tolerance = cursor.Number();
  if (tolerance < 0) cursor.Wrong(texts::ToleranceNegative());
  return tolerance;
}

}  // namespace

bool StepComparison::Compares(const std::string& field) const {
  return fields.empty() ? field != "attempt" && field != "boot" : fields.contains(field);
}

bool StepComparison::ComparesReplica(const std::string& replica) const {
  return replicas.empty() || replicas.contains(replica);
}

bool StepComparison::Equal(const Json& a, const Json& b) const {
  if (a.is_number() && b.is_number() && tolerance > 0) {
    return std::abs(a.get<double>() - b.get<double>()) <= tolerance;
  }
  return a == b;
}

bool ObjectComparison::Compares(const std::string& object) const {
  return AnyMatches(globs, object) && !AnyMatches(except, object);
}

bool ObjectComparison::Equal(const std::string& a, const std::string& b) const {
  if (a == b || json_tolerance <= 0) return a == b;
  const auto mine = ParseJson(a);
  const auto other = ParseJson(b);
  return mine.ok() && other.ok() && SameJson(*mine, *other, json_tolerance);
}

StepComparison ReadStepComparison(const Cursor& cursor) {
  StepComparison how;
  if (!cursor.IsMap()) {
    (void)cursor.Flag();
    return how;
  }
  cursor.OnlyKeys({"fields", "replicas", "tolerance"});
  if (cursor.Has("fields")) {
    for (const Cursor& field : cursor.At("fields").Elements()) how.fields.insert(field.Text());
  }
  if (cursor.Has("replicas")) {
    for (const Cursor& one : cursor.At("replicas").Elements())
      how.replicas.insert(ReadReplica(one));
  }
  if (cursor.Has("tolerance")) how.tolerance = ReadTolerance(cursor.At("tolerance"));
  return how;
}

ObjectComparison ReadObjectComparison(const Cursor& cursor) {
  ObjectComparison how;
  if (!cursor.IsMap()) {
    (void)cursor.Flag();
    return how;
  }
  cursor.OnlyKeys({"globs", "except", "json_tolerance"});
  if (cursor.Has("globs")) how.globs = GlobsOf(cursor.At("globs"));
  if (cursor.Has("except")) how.except = GlobsOf(cursor.At("except"));
  if (cursor.Has("json_tolerance")) how.json_tolerance = ReadTolerance(cursor.At("json_tolerance"));
  return how;
}

bool SameJson(const Json& a, const Json& b, double tolerance) {
  if (a.is_number() && b.is_number()) {
    return std::abs(a.get<double>() - b.get<double>()) <= tolerance;
  }
  if (a.type() != b.type() || a.size() != b.size()) return a == b;
  if (a.is_object()) {
    for (const auto& [key, value] : a.items()) {
      const Json* other = Member(b, key);
      if (!other || !SameJson(value, *other, tolerance)) return false;
    }
    return true;
  }
  if (!a.is_array()) return a == b;
  for (size_t i = 0; i < a.size(); ++i) {
    if (!SameJson(a[i], b[i], tolerance)) return false;
  }
  return true;
}

}  // namespace caip::harness
