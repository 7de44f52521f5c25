// The schema of scenario files, and the scenarios that are shipped.

#include <gtest/gtest.h>

#include <filesystem>

#include "base/files.h"
#include "base/json.h"
#include "harness/expectations/expectation.h"
#include "harness/faults/fault.h"
#include "harness/scenario/file_cursor.h"
#include "harness/scenario/scenario.h"
#include "places.h"

namespace caip::harness {
namespace {

TEST(ScenarioSchema, KnowsEveryKind) {
  const Json schema = ScenarioSchema();
  for (const FaultKind& kind : FaultKinds()) {
    EXPECT_TRUE(schema.at("$defs").at("fault").at("properties").contains(kind.name)) << kind.name;
  }
  for (const ExpectationKind& kind : ExpectationKinds()) {
    EXPECT_TRUE(schema.at("properties").at("expect").at("properties").contains(kind.name));
  }
}

// Editors read it from there; docs/scenarios.md says how. `caip scenario schema` writes it.
TEST(ScenarioSchema, IsTheShippedFile) {
  const auto file = ReadFile(Path(CAIP_SOURCE_DIR) / "scenarios" / "schema.json");
  ASSERT_TRUE(file.ok()) << file.error().message;
  EXPECT_EQ(*file, PrettyJson(ScenarioSchema()) + "\n");
}

// Every key of every scenario that ships, as an editor would check it.
void ExpectKnown(const Json& schema, const Json& part, const Json& value, const std::string& at) {
  Json rule = part;
  if (const Json* ref = Member(part, "$ref")) {
    const std::string name = ref->get<std::string>();
    rule = schema.at("$defs").at(name.substr(name.rfind('/') + 1));
  }
  if (value.is_array() && Member(rule, "items")) {
    for (const Json& element : value) ExpectKnown(schema, rule.at("items"), element, at + "[]");
  }
  if (!value.is_object() || !Member(rule, "properties")) return;
  for (const auto& [key, member] : value.items()) {
    const Json* known = Member(rule.at("properties"), key);
    EXPECT_NE(known, nullptr) << at << "." << key;
    if (known) ExpectKnown(schema, *known, member, at + "." + key);
  }
}

TEST(ScenarioSchema, HasEveryKeyOfTheShippedScenarios) {
  const Json schema = ScenarioSchema();
  for (const char* folder : {"restarts", "service", "frameworks"}) {
    const Path path = Path(CAIP_SOURCE_DIR) / "scenarios" / folder;
    for (const auto& entry : std::filesystem::directory_iterator(path)) {
      if (entry.path().extension() != ".yaml") continue;
      const auto text = OpenFileText(entry.path());
      ASSERT_TRUE(text.ok()) << text.error().message;
      ExpectKnown(schema, schema, (*text)->document.value, entry.path().filename());
    }
  }
}

// The shipped file is well formed.
TEST(ScenarioReader, ReadsEveryShippedScenario) {
  size_t read = 0;
  for (const char* folder : {"restarts", "service", "frameworks"}) {
    const Path path = Path(CAIP_SOURCE_DIR) / "scenarios" / folder;
    for (const auto& entry : std::filesystem::directory_iterator(path)) {
      if (entry.path().extension() != ".yaml") continue;
      const auto scenario = ReadScenario(entry.path());
      EXPECT_TRUE(scenario.ok()) << scenario.error().message;
      ++read;
    }
  }
  EXPECT_GE(read, 60u);
}

}  // namespace
}  // namespace caip::harness
