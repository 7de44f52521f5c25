// Lines of containers as log entries (docs/service/vertex.md, section 10).
#include "host/process/container_entry.h"

#include <gtest/gtest.h>

#include <tuple>

namespace caip::host {
namespace {

using run::Payload;
using run::Severity;

TEST(ContainerEntry, ALineIsATextUnlessItIsAnObject) {
  const std::tuple<std::string, Payload, Severity> rows[] = {
      {"step 1", Payload::kText, Severity::kDefault},
      {"  ", Payload::kText, Severity::kDefault},
      {"ERROR: no", Payload::kText, Severity::kDefault},
      {"[1, 2]", Payload::kText, Severity::kDefault},
      {"{\"step\": 1", Payload::kText, Severity::kDefault},
      {"{1}", Payload::kText, Severity::kDefault},
      {"{}", Payload::kObject, Severity::kDefault},
      {"{\"step\": 1}", Payload::kObject, Severity::kDefault},
      {" {\"severity\": \"WARNING\", \"message\": \"m\"}", Payload::kObject, Severity::kWarning},
      {"{\"severity\": \"warn\"}", Payload::kObject, Severity::kWarning},
      {"{\"severity\": \"Emergency\"}", Payload::kObject, Severity::kEmergency},
      {"{\"severity\": \"LOUD\"}", Payload::kObject, Severity::kDefault},
      {"{\"severity\": 500}", Payload::kObject, Severity::kDefault},
  };
  for (const auto& [line, payload, severity] : rows) {
    const auto entry = ContainerEntry(line);
    ASSERT_TRUE(entry.has_value()) << line;
    EXPECT_EQ(entry->payload, payload) << line;
    EXPECT_EQ(entry->severity, severity) << line;
    EXPECT_EQ(entry->message, line);
  }
}

TEST(ContainerEntry, AnEmptyLineIsNone) {
  EXPECT_FALSE(ContainerEntry("").has_value());
  EXPECT_FALSE(ContainerEntry("\r").has_value());
  EXPECT_EQ(ContainerEntry("a\r")->message, "a");
}

}  // namespace
}  // namespace caip::host
