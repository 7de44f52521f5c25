// Any text is a scenario, or an error that names its file. A valid scenario has a verdict on an
// empty run.

#include "harness/scenario/scenario.h"

#include <cstdint>
#include <cstdlib>
#include <string>

#include "harness/expectations/verdict.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace caip;
  const std::string text(reinterpret_cast<const char*>(data), size);
  if (text.find("extends") != std::string::npos) return 0;  // reads other files
  const auto scenario = harness::ReadScenarioText(text, "s.yaml");
  if (!scenario.ok()) {
    if (scenario.error().code != Code::kInvalidArgument) std::abort();
    if (!scenario.error().message.starts_with("s.yaml:")) std::abort();
    return 0;
  }
  const harness::Evidence nothing;
  const harness::Verdict verdict = harness::DecideVerdict(*scenario, nothing, &nothing);
  if (verdict.passed != verdict.why_not.empty()) std::abort();
  return 0;
}
