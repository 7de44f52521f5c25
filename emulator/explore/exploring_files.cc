#include "emulator/explore/exploring_files.h"

#include <filesystem>
#include <set>
#include <utility>

#include "base/json.h"
#include "base/text.h"
#include "emulator/explore/fingerprint.h"
#include "emulator/scenario/ready_job.h"
#include "harness/explorer/progress_comparison.h"

namespace caip::explore {
namespace {

using harness::Event;
using harness::Flaw;
using harness::YamlQuoted;

constexpr char kProgress[] = "progress.jsonl";
constexpr char kFinding[] = "finding-";
constexpr char kHead[] = "# Found by caip explore.";

Json FlawJson(const Flaw& flaw) {
  Json json = {{"cause", flaw.cause}, {"expected", flaw.expected}, {"found", flaw.found}};
  if (!flaw.doubt.empty()) json["doubt"] = flaw.doubt;
  if (flaw.kind != Flaw::Kind::kOther) json["kind"] = harness::Name(flaw.kind);
  if (flaw.resume_step) json["resume_step"] = *flaw.resume_step;
  if (flaw.may_resume_later) json["may_resume_later"] = true;
  if (!flaw.object.empty()) json["object"] = flaw.object;
  if (!flaw.contents.empty()) json["contents"] = flaw.contents;
  return json;
}

Json TriedJson(const std::string& point, const ExploreOutcome& tried) {
  Json json = {{"point", point}, {"flaws", Json::array()}};
  for (const Flaw& flaw : tried.flaws) json["flaws"].push_back(FlawJson(flaw));
  if (tried.first_step) json["first_step"] = *tried.first_step;
  if (!tried.resumed.empty()) json["resumed"] = tried.resumed;
  return json;
}

Flaw FlawFromJson(const Json& json) {
  Flaw flaw{StringOr(json, "cause"), StringOr(json, "expected"), StringOr(json, "found"),
            StringOr(json, "doubt")};
  flaw.kind = harness::FlawKindNamed(StringOr(json, "kind"));
  if (Member(json, "resume_step")) flaw.resume_step = IntOr(json, "resume_step", 0);
  flaw.may_resume_later = Member(json, "may_resume_later") != nullptr;
  flaw.object = StringOr(json, "object");
  flaw.contents = StringOr(json, "contents");
  return flaw;
}

ExploreOutcome TriedFromJson(const Json& json) {
  ExploreOutcome tried;
  if (const Json* flaws = Member(json, "flaws")) {
    for (const Json& flaw : *flaws) tried.flaws.push_back(FlawFromJson(flaw));
  }
  if (Member(json, "first_step")) tried.first_step = IntOr(json, "first_step", 0);
  tried.resumed = StringOr(json, "resumed");
  return tried;
}

std::string Capitalized(std::string text) {
  if (!text.empty() && text[0] >= 'a' && text[0] <= 'z') text[0] += 'A' - 'a';
  return text;
}

std::string TextList(const std::set<std::string>& names) {
  std::vector<std::string> quoted;
  for (const std::string& name : names) quoted.push_back(YamlQuoted(name));
  return "[" + Join(quoted, ", ") + "]";
}

// The fields of the reported steps that are compared.
std::set<std::string> FieldsOf(const harness::Baseline& baseline) {
  std::set<std::string> fields;
  for (const Event& event : baseline.run().events) {
    const auto* step = event.As<harness::StepEvent>();
    if (!step) continue;
    for (const auto& [name, value] : step->record.items()) {
      const bool compared = baseline.how().steps.Compares(name);
      if (compared && !baseline.unstable_fields().contains(name)) fields.insert(name);
    }
  }
  return fields;
}

std::string ObjectsExpectation(const harness::Baseline& baseline, bool builds_packages) {
  const harness::ObjectComparison& how = baseline.how().objects;
  std::set<std::string> except(how.except.begin(), how.except.end());
  for (const std::string& name : baseline.unstable_objects()) except.insert(name);
  // Each run of the finding builds its packages itself.
  if (builds_packages) except.insert("job/" + std::string(scenario::kJobId) + "/*");
  std::vector<std::string> words;
  if (how.globs != harness::ObjectComparison().globs) {
    words.push_back("globs: " + TextList({how.globs.begin(), how.globs.end()}));
  }
  if (!except.empty()) words.push_back("except: " + TextList(except));
  if (how.json_tolerance > 0) {
    words.push_back("json_tolerance: " + CompactJson(Json(how.json_tolerance)));
  }
  return words.empty() ? "true" : "{" + Join(words, ", ") + "}";
}

// The file that a finding extends; "" for files that are not findings.
Path FindExtendedFile(const Path& finding) {
  const auto text = ReadFile(finding);
  if (!text.ok() || !text->starts_with(kHead)) return "";
  for (const std::string& line : Split(*text, '\n')) {
    if (!line.starts_with("extends: ")) continue;
    const auto name = ParseJson(line.substr(line.find(' ') + 1));
    if (!name.ok() || !name->is_string()) return "";
    std::error_code error;
    const Path file = finding.parent_path() / name->get<std::string>();
    return std::filesystem::weakly_canonical(file, error);
  }
  return "";
}

// The state directory is above the workshop of one command.
std::vector<Path> FoldersOfRuns(const ExploreOptions& options) {
  return {options.out, options.workshop.parent_path().parent_path()};
}

// Expectations that fail because of the flaw.
std::string Expectations(const ExploreFinding& finding, const harness::Baseline& baseline,
                         bool builds_packages) {
  if (finding.flaw.kind == Flaw::Kind::kSpoiledOutput) {
    return "expect:\n  state: FAILED\n  output_never_goes_back: " +
           ObjectsExpectation(baseline, builds_packages) + "\n";
  }
  std::string text = "expect:\n  state: SUCCEEDED\n";
  if (baseline.steps_are_stable() && !baseline.replicas().empty()) {
    const harness::StepComparison& how = baseline.how().steps;
    text += "  same_steps_as_twin: {fields: " + TextList(FieldsOf(baseline));
    if (!how.replicas.empty()) text += ", replicas: " + TextList(how.replicas);
    if (how.tolerance > 0) text += ", tolerance: " + CompactJson(Json(how.tolerance));
    text += "}\n";
  }
  text += "  same_objects_as_twin: " + ObjectsExpectation(baseline, builds_packages) + "\n";
  if (const auto step = finding.flaw.resume_step) {
    const std::string number = std::to_string(*step);
    text += "  first_step: {" + finding.point.replica + ": {" + (finding.second ? "3: " : "2: ") +
            (finding.flaw.may_resume_later ? "\"" + number + "..\"" : number) + "}}\n";
  }
  if (finding.flaw.kind == Flaw::Kind::kRewrittenResult) {
    text += "  written_once: [" + YamlQuoted(finding.flaw.object) + "]\n";
  }
  return text;
}

}  // namespace

ExplorationFiles::ExplorationFiles(const ExploreOptions& options, const harness::Scenario& scenario)
    : out_(options.out),
      findings_(options.findings.empty() ? options.out : options.findings),
      scenario_(options.as_written ? *options.as_written : scenario),
      step_format_(scenario.steps.format) {
  head_ = CompactJson({{"exploration", Fingerprint(scenario_, FoldersOfRuns(options))}});
  if (!options.resume) RemoveFindings();
  const auto text = ReadFile(out_ / kProgress);
  if (!options.resume || !text.ok() || !text->starts_with(head_ + "\n")) return;
  for (const std::string& line : Split(*text, '\n')) {
    const auto json = ParseJson(line);  // the last line may be half written
    if (json.ok() && Member(*json, "point"))
      known_[StringOr(*json, "point")] = TriedFromJson(*json);
  }
}

std::optional<ExploreOutcome> ExplorationFiles::Known(const std::string& point) const {
  const std::lock_guard lock(mutex_);
  const auto found = known_.find(point);
  return found == known_.end() ? std::nullopt : std::optional(found->second);
}

void ExplorationFiles::Note(const std::string& point, const ExploreOutcome& tried) {
  const std::lock_guard lock(mutex_);
  if (!progress_.is_open() && !BeginProgress().ok()) return;
  progress_ << CompactJson(TriedJson(point, tried)) << "\n" << std::flush;
}

// Rewrites the file, because the last line of an interrupted exploration may be incomplete.
Status ExplorationFiles::BeginProgress() {
  RETURN_IF_ERROR(MakeDirectories(out_));
  std::string text = head_ + "\n";
  for (const auto& [point, tried] : known_) text += CompactJson(TriedJson(point, tried)) + "\n";
  RETURN_IF_ERROR(WriteFile(out_ / kProgress, text));
  progress_.open(out_ / kProgress, std::ios::app);
  return Ok{};
}

void ExplorationFiles::RemoveFindings() const {
  std::error_code error;
  std::vector<Path> mine;
  const Path base = std::filesystem::weakly_canonical(scenario_.file, error);
  for (std::filesystem::directory_iterator entry(findings_, error), end; !error && entry != end;
       entry.increment(error)) {
    const Path& file = entry->path();
    const bool is_finding = file.filename().string().starts_with(kFinding);
    if (is_finding && FindExtendedFile(file) == base) mine.push_back(file);
  }
  for (const Path& file : mine) std::filesystem::remove(file, error);
}

// The first number that no other scenario's finding has.
Path ExplorationFiles::NextFinding() const {
  std::error_code error;
  for (int number = 1;; ++number) {
    const Path path = findings_ / (kFinding + std::to_string(number) + ".yaml");
    if (!std::filesystem::exists(path, error)) return path;
  }
}

Result<Path> ExplorationFiles::WriteScenario(const ExploreFinding& finding,
                                             const harness::Baseline& baseline) const {
  RETURN_IF_ERROR(MakeDirectories(findings_));
  const Path path = NextFinding();
  std::string text = kHead;
  const std::string& doubt = finding.flaw.doubt;
  text += doubt.empty() ? " Fails until the trainer is fixed.\n"
                        : "\n# May be harmless: " + doubt + "\n";
  if (!finding.resumed.empty())
    text += "# After the restart: " + ReplaceAll(finding.resumed, "\n", "\\n") + ".\n";
  text += "extends: " + YamlQuoted(RelativeTo(findings_, scenario_.file).string()) + "\n";
  text += "description: " +
          YamlQuoted(Capitalized(Describe(finding.what, finding.point)) +
                     (finding.second ? ", then " + Describe(*finding.second) : "") + ": " +
                     finding.flaw.cause) +
          "\n";
  text += "seed: " + std::to_string(scenario_.seed) + "\nshows_bug: []\n";
  if (step_format_ != scenario_.steps.format) text += "steps: {format: " + step_format_ + "}\n";
  text += "faults:\n";
  text += FaultLines(finding.what, "restart", finding.point);
  if (finding.second) text += FaultLines(finding.what, "second restart", *finding.second);
  text += Expectations(finding, baseline, !scenario_.words.empty());
  RETURN_IF_ERROR(WriteFile(path, text));
  return path;
}

}  // namespace caip::explore
