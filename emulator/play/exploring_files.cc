#include "emulator/play/exploring_files.h"

#include <utility>

#include "base/json.h"
#include "base/text.h"

namespace caip::play {
namespace {

using harness::CrashPoint;
using harness::Flaw;
using harness::Happening;
using harness::YamlQuoted;

constexpr char kProgress[] = "progress.jsonl";

// What the exploration depends on, as far as files say it: the scenario and its trainer.
std::string Fingerprint(const harness::Scenario& scenario) {
  uint64_t hash = 14695981039346656037u;  // FNV-1a
  const auto add = [&hash](const std::string& text) {
    for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211u;
  };
  add(ReadFile(scenario.file).ok() ? *ReadFile(scenario.file) : "");
  for (const std::string& word : scenario.command) {
    const auto program = ReadFile(scenario.trainer_folder / word);
    add(word + (program.ok() ? *program : ""));
  }
  for (const std::string& word : scenario.submit) add(word);
  return std::to_string(hash) + " " + std::to_string(scenario.seed);
}

Json FlawJson(const Flaw& flaw) {
  return {{"cause", flaw.cause}, {"expected", flaw.expected}, {"found", flaw.found}};
}

Json TriedJson(const std::string& point, const TriedPoint& tried) {
  Json json = {{"point", point}, {"flaws", Json::array()}};
  for (const Flaw& flaw : tried.flaws) json["flaws"].push_back(FlawJson(flaw));
  if (tried.first_step) json["first_step"] = *tried.first_step;
  return json;
}

TriedPoint TriedFromJson(const Json& json) {
  TriedPoint tried;
  if (const Json* flaws = Member(json, "flaws")) {
    for (const Json& flaw : *flaws) {
      tried.flaws.push_back(
          {StringOr(flaw, "cause"), StringOr(flaw, "expected"), StringOr(flaw, "found")});
    }
  }
  if (Member(json, "first_step")) tried.first_step = IntOr(json, "first_step", 0);
  return tried;
}

std::string FaultLine(const CrashPoint& point, bool crash) {
  return std::string("  - ") + (crash ? "crash" : "kill") + ": {replica: " + point.replica +
         "}\n    when: " + WhenText(point) + "\n";
}

std::string ExceptList(const std::set<std::string>& names) {
  std::vector<std::string> quoted;
  for (const std::string& name : names) quoted.push_back(YamlQuoted(name));
  return "[" + Join(quoted, ", ") + "]";
}

// What the flaw broke, as expectations.
std::string Expectations(const ExploreFinding& finding, const harness::Peace& peace) {
  std::string text = "expect:\n  state: SUCCEEDED\n";
  if (peace.steps_are_stable() && !peace.replicas().empty()) {
    std::set<std::string> fields;
    for (const Happening& h : peace.run().happenings) {
      if (h.kind != Happening::Kind::kStep) continue;
      for (const auto& [name, value] : h.record.items()) {
        const bool of_the_boot = name == "attempt" || name == "boot";
        if (!of_the_boot && !peace.unstable_fields().contains(name)) fields.insert(name);
      }
    }
    text += "  same_steps_as_twin: {fields: " + ExceptList(fields) + "}\n";
  }
  text += peace.unstable_objects().empty()
              ? "  same_objects_as_twin: true\n"
              : "  same_objects_as_twin: {except: " + ExceptList(peace.unstable_objects()) + "}\n";
  if (finding.flaw.cause.starts_with("a whole checkpoint is passed over")) {
    const std::string step = finding.flaw.expected.substr(finding.flaw.expected.rfind(' ') + 1);
    text += "  first_step: {" + finding.point.replica + ": {2: " + step + "}}\n";
  }
  if (finding.flaw.cause.starts_with("a result that was whole")) {
    const std::string name = finding.flaw.expected.substr(0, finding.flaw.expected.find(' '));
    text += "  written_once: [" + YamlQuoted(name) + "]\n";
  }
  return text;
}

}  // namespace

ExplorationFiles::ExplorationFiles(Path out, const harness::Scenario& scenario, bool resume)
    : out_(std::move(out)), scenario_(scenario) {
  head_ = CompactJson({{"exploration", Fingerprint(scenario)}});
  const auto text = ReadFile(out_ / kProgress);
  if (!resume || !text.ok() || !text->starts_with(head_ + "\n")) return;
  for (const std::string& line : Split(*text, '\n')) {
    const auto json = ParseJson(line);
    if (json.ok() && Member(*json, "point"))
      known_[StringOr(*json, "point")] = TriedFromJson(*json);
  }
}

std::optional<TriedPoint> ExplorationFiles::Known(const std::string& point) const {
  const std::lock_guard lock(mutex_);
  const auto found = known_.find(point);
  return found == known_.end() ? std::nullopt : std::optional(found->second);
}

void ExplorationFiles::Note(const std::string& point, const TriedPoint& tried) {
  const std::lock_guard lock(mutex_);
  if (!progress_.is_open()) {
    if (!MakeDirectories(out_).ok()) return;
    const bool goes_on = !known_.empty();
    progress_.open(out_ / kProgress, goes_on ? std::ios::app : std::ios::trunc);
    if (!goes_on) progress_ << head_ << "\n";
  }
  progress_ << CompactJson(TriedJson(point, tried)) << "\n" << std::flush;
}

Result<Path> ExplorationFiles::WriteScenario(int number, const ExploreFinding& finding,
                                             const harness::Peace& peace, bool crash) const {
  RETURN_IF_ERROR(MakeDirectories(out_));
  const Path path = out_ / ("finding-" + std::to_string(number) + ".yaml");
  std::error_code error;
  const Path base = std::filesystem::absolute(scenario_.file, error);
  std::string text = "# Found by caip explore. Fails until the trainer is mended.\n";
  text += "extends: " + YamlQuoted(base.string()) + "\n";
  text += "description: " +
          YamlQuoted("The machine goes " + Describe(finding.point) +
                     (finding.second ? ", then " + Describe(*finding.second) : "") + ": " +
                     finding.flaw.cause) +
          "\n";
  text += "seed: " + std::to_string(scenario_.seed) + "\nshows_bug: []\nfaults:\n";
  text += FaultLine(finding.point, crash);
  if (finding.second) text += FaultLine(*finding.second, crash);
  text += Expectations(finding, peace);
  RETURN_IF_ERROR(WriteFile(path, text));
  return path;
}

}  // namespace caip::play
