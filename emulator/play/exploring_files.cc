#include "emulator/play/exploring_files.h"

#include <filesystem>
#include <set>
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

/// FNV-1a.
class Hash {
 public:
  void Add(const std::string& text) {
    for (const char c : text) hash_ = (hash_ ^ static_cast<unsigned char>(c)) * 1099511628211u;
    hash_ = (hash_ ^ 256u) * 1099511628211u;  // "ab","c" is not "a","bc"
  }
  void AddFile(const Path& file) {
    const auto bytes = ReadFile(file);
    Add(file.filename().string());
    if (bytes.ok()) Add(*bytes);
  }
  /// All files below it, by name.
  void AddTree(const Path& folder) {
    std::set<Path> files;
    std::error_code error;
    using Walk = std::filesystem::recursive_directory_iterator;
    for (Walk entry(folder, error), end; !error && entry != end; entry.increment(error)) {
      const bool made_by_python = entry->path().extension() == ".pyc";
      if (entry->is_regular_file(error) && !made_by_python) files.insert(entry->path());
    }
    for (const Path& file : files) AddFile(file);
  }
  std::string text() const { return std::to_string(hash_); }

 private:
  uint64_t hash_ = 14695981039346656037u;
};

void AddWord(Hash& hash, const Path& folder, const std::string& word) {
  hash.Add(word);
  std::error_code error;
  const Path path = folder / word;
  if (word.empty() || word.starts_with("gs://")) return;
  if (std::filesystem::is_regular_file(path, error)) hash.AddFile(path);
  // A program's folder has what it imports; the folders of the host's own programs do not matter.
  const bool ours = word.front() != '/' && word.find('/') != std::string::npos;
  if (ours && std::filesystem::is_regular_file(path, error)) hash.AddTree(path.parent_path());
  if (ours && std::filesystem::is_directory(path, error)) hash.AddTree(path);
}

// What the exploration depends on, as far as files say it: the scenario and its trainer.
std::string Fingerprint(const harness::Scenario& scenario) {
  Hash hash;
  hash.AddFile(scenario.file);
  for (const std::string& word : scenario.command) AddWord(hash, scenario.trainer_folder, word);
  for (const std::string& word : scenario.submit) AddWord(hash, scenario.job_folder, word);
  for (const std::string& word : scenario.arguments) hash.Add(word);
  hash.Add(CompactJson(scenario.training_input));
  for (const auto& [name, bucket] : scenario.buckets) {
    hash.Add(name);
    if (bucket.from) hash.AddTree(*bucket.from);
    for (const auto& [object, bytes] : bucket.objects) hash.Add(object + "\n" + bytes);
  }
  return hash.text() + " " + std::to_string(scenario.seed);
}

Json FlawJson(const Flaw& flaw) {
  Json json = {{"cause", flaw.cause}, {"expected", flaw.expected}, {"found", flaw.found}};
  if (!flaw.doubt.empty()) json["doubt"] = flaw.doubt;
  return json;
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
      tried.flaws.push_back({StringOr(flaw, "cause"), StringOr(flaw, "expected"),
                             StringOr(flaw, "found"), StringOr(flaw, "doubt")});
    }
  }
  if (Member(json, "first_step")) tried.first_step = IntOr(json, "first_step", 0);
  return tried;
}

std::string FaultLine(const CrashPoint& point, bool crash) {
  return std::string("  - ") + (crash ? "crash" : "kill") + ": {replica: " + point.replica +
         "}\n    when: " + WhenText(point) + "\n";
}

std::string TextList(const std::set<std::string>& names) {
  std::vector<std::string> quoted;
  for (const std::string& name : names) quoted.push_back(YamlQuoted(name));
  return "[" + Join(quoted, ", ") + "]";
}

// The fields of steps that are compared, by all that was reported.
std::set<std::string> FieldsOf(const harness::Peace& peace) {
  std::set<std::string> fields;
  for (const Happening& h : peace.run().happenings) {
    if (h.kind != Happening::Kind::kStep) continue;
    for (const auto& [name, value] : h.record.items()) {
      const bool compared = peace.how().steps.Compares(name);
      if (compared && !peace.unstable_fields().contains(name)) fields.insert(name);
    }
  }
  return fields;
}

std::string ObjectsExpectation(const harness::Peace& peace) {
  const harness::ObjectComparison& how = peace.how().objects;
  std::set<std::string> except(how.except.begin(), how.except.end());
  for (const std::string& name : peace.unstable_objects()) except.insert(name);
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

// What the flaw broke, as expectations.
std::string Expectations(const ExploreFinding& finding, const harness::Peace& peace) {
  std::string text = "expect:\n  state: SUCCEEDED\n";
  if (peace.steps_are_stable() && !peace.replicas().empty()) {
    const harness::StepComparison& how = peace.how().steps;
    text += "  same_steps_as_twin: {fields: " + TextList(FieldsOf(peace));
    if (!how.replicas.empty()) text += ", replicas: " + TextList(how.replicas);
    if (how.tolerance > 0) text += ", tolerance: " + CompactJson(Json(how.tolerance));
    text += "}\n";
  }
  text += "  same_objects_as_twin: " + ObjectsExpectation(peace) + "\n";
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

ExplorationFiles::ExplorationFiles(const ExploreOptions& options, const harness::Scenario& scenario)
    : out_(options.out), scenario_(scenario) {
  head_ = CompactJson({{"exploration", Fingerprint(scenario)}});
  const auto text = ReadFile(out_ / kProgress);
  if (!options.resume || !text.ok() || !text->starts_with(head_ + "\n")) return;
  for (const std::string& line : Split(*text, '\n')) {
    const auto json = ParseJson(line);  // the last line may be half written
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
  if (!progress_.is_open() && !BeginProgress().ok()) return;
  progress_ << CompactJson(TriedJson(point, tried)) << "\n" << std::flush;
}

// What is known is written anew, so that nothing is added to a line that is half there.
Status ExplorationFiles::BeginProgress() {
  RETURN_IF_ERROR(MakeDirectories(out_));
  std::string text = head_ + "\n";
  for (const auto& [point, tried] : known_) text += CompactJson(TriedJson(point, tried)) + "\n";
  RETURN_IF_ERROR(WriteFile(out_ / kProgress, text));
  progress_.open(out_ / kProgress, std::ios::app);
  return Ok{};
}

Result<Path> ExplorationFiles::WriteScenario(int number, const ExploreFinding& finding,
                                             const harness::Peace& peace) const {
  RETURN_IF_ERROR(MakeDirectories(out_));
  const Path path = out_ / ("finding-" + std::to_string(number) + ".yaml");
  std::error_code error;
  const Path base = std::filesystem::absolute(scenario_.file, error);
  std::string text = "# Found by caip explore. Fails until the trainer is mended.\n";
  text += "extends: " + YamlQuoted(base.string()) + "\n";
  text += "description: " +
          YamlQuoted((finding.disk_kept ? "The process dies " : "The machine goes ") +
                     Describe(finding.point) +
                     (finding.second ? ", then " + Describe(*finding.second) : "") + ": " +
                     finding.flaw.cause) +
          "\n";
  text += "seed: " + std::to_string(scenario_.seed) + "\nshows_bug: []\nfaults:\n";
  text += FaultLine(finding.point, finding.disk_kept);
  if (finding.second) text += FaultLine(*finding.second, finding.disk_kept);
  text += Expectations(finding, peace);
  RETURN_IF_ERROR(WriteFile(path, text));
  return path;
}

}  // namespace caip::play
