#include "emulator/explore/baseline_facts.h"

#include <algorithm>

#include "harness/events/step_formats.h"

namespace caip::explore {
namespace {

bool IsStep(const harness::Event& event) { return event.Is<harness::StepEvent>(); }

}  // namespace

std::string RecognizeSteps(const harness::Evidence& run) {
  if (std::ranges::any_of(run.events, IsStep)) return "";
  std::vector<harness::ReplicaLine> lines;
  for (const harness::Event& event : run.events) {
    const auto* line = event.As<harness::LogEvent>();
    if (line && event.replica != "service") lines.push_back({event.replica, line->message});
  }
  const harness::StepFormat* format = harness::GuessStepFormat(lines);
  return format ? format->name : "";
}

std::set<std::string> ReplicasOf(const harness::Evidence& run) {
  std::set<std::string> replicas;
  for (const harness::Event& event : run.events) {
    if (event.Is<harness::StartEvent>()) replicas.insert(event.replica);
  }
  return replicas;
}

bool HasResults(const harness::Evidence& run) {
  if (std::ranges::any_of(run.events, IsStep)) return true;
  return std::ranges::any_of(run.objects, [&run](const auto& object) {
    const auto before = run.objects_before.find(object.first);
    return before == run.objects_before.end() || before->second.bytes != object.second.bytes;
  });
}

std::vector<std::string> NotCompared(const harness::Baseline& baseline) {
  std::vector<std::string> texts;
  for (const std::string& name : baseline.unstable_objects()) texts.push_back("object " + name);
  for (const std::string& name : baseline.unstable_fields()) texts.push_back("field " + name);
  if (!baseline.steps_are_stable()) texts.emplace_back("the numbers of the steps");
  return texts;
}

}  // namespace caip::explore
