// Which files of a folder are scenarios.

#include <algorithm>
#include <iterator>

#include "harness/scenario/file_cursor.h"
#include "harness/scenario/scenario.h"

namespace caip::harness {
namespace {

bool HasOneOf(const Cursor& top, std::initializer_list<const char*> keys) {
  return std::ranges::any_of(keys, [&](const char* key) { return top.Has(key); });
}

}  // namespace

bool IsJobConfig(const Path& file) {
  const auto text = OpenFileText(file);
  if (!text.ok()) return false;
  const Cursor top(*text);
  if (!top.IsMap() || HasOneOf(top, {"job", "trainer"})) return false;
  const bool has_only_labels = top.Has("labels") && top.Members().size() == 1;
  if (has_only_labels) return true;
  return HasOneOf(top, {"trainingInput", "workerPoolSpecs", "studySpec", "jobSpec", "job_spec"});
}

bool IsMeantAsScenario(const Path& file) {
  if (file.extension() == ".yaml") return true;
  if (file.extension() != ".yml") return false;
  const auto text = OpenFileText(file);
  if (!text.ok()) return false;
  const Cursor top(*text);
  return (top.IsMap() && HasOneOf(top, {"job", "trainer", "extends"})) || IsJobConfig(file);
}

}  // namespace caip::harness
