
#include <algorithm>
#include <set>
#include <utility>

#include "base/time_text.h"
#include "google/gcs_uri.h"
#include "harness/errors.h"
#include "harness/events/step_reader.h"
#include "harness/expectations/expectation.h"
#include "harness/expectations/verdict.h"
#include "harness/faults/fault_reader.h"
#include "harness/faults/fault_texts.h"
#include "harness/faults/trigger.h"
#include "harness/faults/trigger_reader.h"
#include "harness/scenario/file_cursor.h"
#include "harness/scenario/scenario.h"
#include "harness/scenario/scenario_replicas.h"
#include "harness/scenario/scenario_texts.h"
#include "harness/scenario/trainer_reader.h"

namespace caip::harness {
namespace {

const std::vector<std::string> kKeys = {
    "extends", "description", "seed",   "semantics", "addressing", "needs",  "job",      "trainer",
    "buckets", "mood",        "limits", "steps",     "faults",     "expect", "shows_bug"};
constexpr int kExtendsMax = 8;

/// The keys of a scenario, each from the file itself or from a file that it extends.
class Reading {
 public:
  Status Open(const Path& file) {
    std::error_code error;
    if (!std::filesystem::exists(file, error)) return errors::ScenarioMissing(file.string());
    ASSIGN_OR_RETURN(auto text, OpenFileText(file));
    return Take(text, file);
  }
  Status Take(const std::shared_ptr<FileText>& text, const Path& file, int depth = 0) {
    const Cursor top(text);
    files_.push_back(text);
    if (!top.MustBeMap()) return Ok{};
    top.OnlyKeys(kKeys);
    for (const auto& [key, member] : top.Members()) {
      if (keys_.try_emplace(key, member).second) folders_[key] = file.parent_path();
    }
    if (!top.Has("extends")) return Ok{};
    if (depth >= kExtendsMax) {
      top.At("extends").Wrong(texts::TooManyExtends(kExtendsMax));
      return Ok{};
    }
    const Path base = file.parent_path() / top.At("extends").Text();
    auto extended = OpenFileText(base);
    if (!extended.ok() && extended.error().code == Code::kInvalidArgument) return extended.error();
    if (extended.ok()) return Take(*std::move(extended), base, depth + 1);
    top.At("extends").Wrong(extended.error().message);
    return Ok{};
  }

  const Cursor* Find(const std::string& key) const {
    const auto found = keys_.find(key);
    return found == keys_.end() ? nullptr : &found->second;
  }
  /// The folder to which the paths under that key are relative.
  Path FolderOf(const std::string& key) const {
    const auto found = folders_.find(key);
    return found == folders_.end() ? Path() : found->second;
  }
  /// From here on, names of roles mean replicas of worker pools.
  void TakeRolesAsPools() const {
    for (const auto& file : files_) file->roles_are_pools = true;
  }
  void Wrong(const std::string& what) const { Cursor(files_.front()).Wrong(what); }

  Status Outcome() const {
    std::vector<std::string> mistakes;
    for (const auto& file : files_) {
      for (const std::string& mistake : file->mistakes) {  // some values are checked twice
        if (std::ranges::find(mistakes, mistake) == mistakes.end()) mistakes.push_back(mistake);
      }
    }
    if (mistakes.empty()) return Ok{};
    return errors::ScenarioNotValid(mistakes);
  }

 private:
  std::vector<std::shared_ptr<FileText>> files_;
  std::map<std::string, Cursor> keys_;
  std::map<std::string, Path> folders_;  // of the files that the keys are in
};

run::DelayModel ReadDelay(const Cursor& cursor) {
  const auto model = run::ParseDelayModel(cursor.Text());
  if (!model.ok()) cursor.Wrong(model.error().message);
  return model.ok() ? *model : run::NoDelay{};
}

void ReadLifetime(const Cursor& cursor, ServiceDelays& delays) {
  const auto lifetime = ParseMachineLifetime(cursor.Text());
  if (!lifetime.ok()) return cursor.Wrong(lifetime.error().message);
  delays.vm_lifetime = *lifetime;
}

void ReadServiceDelays(const Cursor& cursor, ServiceDelays& delays) {
  if (!cursor.MustBeMap()) return;
  cursor.OnlyKeys({"queue_delay", "provisioning_delay", "restart_delay", "stock_out", "vm_lifetime",
                   "step_time", "failing_restart"});
  if (cursor.Has("queue_delay")) delays.queue_delay = ReadDelay(cursor.At("queue_delay"));
  if (cursor.Has("provisioning_delay")) {
    delays.provisioning_delay = ReadDelay(cursor.At("provisioning_delay"));
  }
  if (cursor.Has("restart_delay")) delays.restart_delay = ReadDelay(cursor.At("restart_delay"));
  if (cursor.Has("stock_out")) {
    const auto tries = static_cast<int>(cursor.At("stock_out").Integer(1, 100));
    if (cursor.Has("provisioning_delay")) {
      cursor.At("stock_out").Wrong(texts::StockOutWithDelay());
    }
    delays.provisioning_delay = run::StockOut{tries};
  }
  if (cursor.Has("vm_lifetime")) ReadLifetime(cursor.At("vm_lifetime"), delays);
  if (cursor.Has("step_time")) {
    delays.step_time = cursor.At("step_time").Time();
    if (*delays.step_time == Duration(0)) cursor.At("step_time").Wrong(texts::NotAboveZero());
  }
  if (cursor.Has("failing_restart")) {
    delays.failing_restart = cursor.At("failing_restart").Time();
  }
}

void ReadLimits(const Cursor& cursor, Limits& limits) {
  if (!cursor.MustBeMap()) return;
  cursor.OnlyKeys({"wall", "no_progress", "log_lines", "grace"});
  const auto some = [&cursor](const char* key, Duration& limit) {
    if (!cursor.Has(key)) return;
    limit = cursor.At(key).Time();
    const Json& written = cursor.At(key).json();
    const bool is_zero = written.is_string() &&
                         ParseDuration(written.get<std::string>()) == limit && limit == Duration(0);
    if (is_zero) cursor.At(key).Wrong(texts::NotAboveZero());
  };
  some("wall", limits.wall);
  some("no_progress", limits.no_progress);
  if (cursor.Has("log_lines")) limits.log_lines = cursor.At("log_lines").Integer(1);
  if (cursor.Has("grace")) limits.grace = cursor.At("grace").Time();
}

void ReadBuckets(const Cursor& cursor, const Path& folder, Scenario& scenario) {
  if (!cursor.MustBeMap()) return;
  for (const auto& [name, member] : cursor.Members()) {
    BucketContents& bucket = scenario.buckets[name];
    if (!google::IsBucketName(name)) member.Wrong(texts::BucketNameNotValid(name));
    if (!member.MustBeMap()) continue;
    member.OnlyKeys({"from", "objects"});
    if (member.Has("from")) {
      std::error_code error;
      bucket.from = folder / member.At("from").Text();
      const bool there = std::filesystem::is_directory(*bucket.from, error);
      if (!there) member.At("from").Wrong(texts::NotADirectory(bucket.from->string()));
    }
    for (const auto& [object, content] : member.At("objects").Members()) {
      const bool named = !object.empty() && google::IsObjectName(object);
      if (!named) content.Wrong(texts::ObjectNameNotValid(object));
      const Json& json = content.json();
      bucket.objects[object] = json.is_string() ? json.get<std::string>() : PythonJson(json);
    }
  }
}

void ReadDocument(const Cursor& cursor, Scenario& scenario) {
  scenario.document = Json::object();
  if (!cursor.MustBeMap()) return;
  auto document = scenario.kind->Read(cursor.json());
  if (document.ok()) {
    scenario.document = *std::move(document);
  } else {
    cursor.Wrong(document.error().message);
  }
}

// Reads the words or the document of a job. Either of them says of which kind it is.
void ReadJobKeys(const Cursor& job, Scenario& scenario) {
  std::vector<std::string> known;
  for (const JobKind* kind : JobKinds()) {
    const std::string words(kind->words_key());
    const std::string document(kind->document_key());
    known.insert(known.end(), {words, document});
    const bool is_other = scenario.kind != kind && scenario.HasJob();
    if (is_other && job.Has(words)) job.At(words).WrongKey(texts::TwoJobKinds());
    if (is_other && job.Has(document)) job.At(document).WrongKey(texts::TwoJobKinds());
    if (is_other || (!job.Has(words) && !job.Has(document))) continue;
    scenario.kind = kind;
    if (job.Has(words) && job.Has(document)) job.At(document).WrongKey(texts::TwoJobKinds());
    if (job.Has(words)) scenario.words = job.At(words).Texts();
    if (job.Has(document)) ReadDocument(job.At(document), scenario);
  }
  known.emplace_back("args");
  job.OnlyKeys(known);
  if (job.Has("args")) scenario.arguments = job.At("args").Texts();
}

void ReadJob(const Reading& reading, Scenario& scenario) {
  scenario.job_folder = reading.FolderOf("job");
  scenario.trainer_folder = reading.FolderOf("trainer");
  const Cursor* job = reading.Find("job");
  const Cursor* trainer = reading.Find("trainer");
  if (job && job->MustBeMap()) ReadJobKeys(*job, scenario);
  if (trainer && trainer->MustBeMap()) ReadTrainer(*trainer, scenario);
  const bool has_args_twice = job && trainer && job->Has("args") && trainer->Has("args");
  if (has_args_twice) trainer->At("args").WrongKey(texts::ArgsOfJobAndTrainer());
  const bool is_group = scenario.ranks > 1 || !scenario.members.empty();
  if (is_group && scenario.kind != &TrainingJobs()) job->Wrong(texts::GroupOfOtherJob());
  if (scenario.words.empty() && scenario.document.is_null() && scenario.command.empty()) {
    reading.Wrong(texts::JobMissing());
  }
}

void ReadExpectations(const Cursor& cursor, Scenario& scenario) {
  if (!cursor.MustBeMap()) return;
  std::vector<std::string> known;
  for (const ExpectationKind& kind : ExpectationKinds()) known.push_back(kind.name);
  cursor.OnlyKeys(known);
  for (const auto& [key, member] : cursor.Members()) {
    const ExpectationKind* kind = FindExpectationKind(key);
    if (!kind) continue;
    if (auto expectation = kind->read(member)) {
      scenario.expectations.push_back(std::move(expectation));
    }
    if (key == "same_steps_as_twin") scenario.comparison.steps = ReadStepComparison(member);
    if (key == "same_objects_as_twin") scenario.comparison.objects = ReadObjectComparison(member);
  }
}

// Reads the semantics of storage. `{job_dir}` in the command is a directory.
void ReadSemantics(const Reading& reading, Scenario& scenario) {
  const bool has_directory = scenario.CommandHas(kJobDirWord);
  scenario.semantics = has_directory ? Semantics::kPosix : Semantics::kObject;
  const Cursor* semantics = reading.Find("semantics");
  if (!semantics) return;
  const std::string word = semantics->Text();
  if (word != "object" && word != "posix") semantics->Wrong(texts::NotOneOf({"object", "posix"}));
  if (word == "object" && has_directory) semantics->Wrong(texts::JobDirIsADirectory());
  if (word == "posix") scenario.semantics = Semantics::kPosix;
}

void ReadAddressing(const Reading& reading, Scenario& scenario) {
  if (const Cursor* addressing = reading.Find("addressing")) {
    const std::string word = addressing->Text();
    if (word != "loopback" && word != "ports") {
      addressing->Wrong(texts::NotOneOf({"loopback", "ports"}));
    }
    scenario.own_ports = word == "ports";
  }
}

// A list of abilities of the host, or {modules: [...], gpus: 1}.
void ReadNeeds(const Cursor& cursor, Scenario& scenario) {
  if (!cursor.IsMap()) {
    scenario.needs = cursor.Texts();
    return;
  }
  cursor.OnlyKeys({"modules", "gpus"});
  if (cursor.Has("modules")) scenario.modules = cursor.At("modules").Texts();
  if (cursor.Has("gpus")) scenario.gpus = cursor.At("gpus").Integer(1);
}

void ReadSteps(const Cursor& cursor, StepSource& steps) {
  if (!cursor.MustBeMap()) return;
  cursor.OnlyKeys({"format", "regex"});
  if (cursor.Has("format")) {
    steps.format = cursor.At("format").Text();
    if (!FindStepFormat(steps.format)) {
      cursor.At("format").Wrong(texts::NotOneOf(StepFormatNames()));
    }
    if (cursor.Has("regex")) cursor.At("regex").Wrong(texts::RegexBesideFormat());
    return;
  }
  steps.regex = cursor.At("regex").Text();
  if (const auto problem = StepPatternProblem(steps.regex)) cursor.At("regex").Wrong(*problem);
}

void ReadParts(const Reading& reading, Scenario& scenario) {
  if (const Cursor* seed = reading.Find("seed")) {
    scenario.seed = static_cast<uint64_t>(seed->Integer(0));
  }
  ReadAddressing(reading, scenario);
  if (const Cursor* needs = reading.Find("needs")) ReadNeeds(*needs, scenario);
  ReadJob(reading, scenario);
  ReadSemantics(reading, scenario);
  if (scenario.kind->NamesReplicasByPools()) reading.TakeRolesAsPools();
  if (const Cursor* buckets = reading.Find("buckets")) {
    ReadBuckets(*buckets, reading.FolderOf("buckets"), scenario);
  }
  if (const Cursor* mood = reading.Find("mood")) {
    ReadServiceDelays(*mood, scenario.service_delays);
    const bool has_effect = scenario.kind->RestartsFailing();
    if (mood->Has("failing_restart") && !has_effect) {
      mood->At("failing_restart").WrongKey(texts::RunsAgainOfTraining());
    }
  }
  if (const Cursor* limits = reading.Find("limits")) ReadLimits(*limits, scenario.limits);
  if (const Cursor* steps = reading.Find("steps")) {
    ReadSteps(*steps, scenario.steps);
  }
  if (const Cursor* faults = reading.Find("faults")) scenario.faults = ReadFaults(*faults);
  if (const Cursor* expect = reading.Find("expect")) ReadExpectations(*expect, scenario);
  if (const Cursor* bug = reading.Find("shows_bug")) scenario.shows_bug = bug->Texts();
}

// Checks that each word of shows_bug names something that may fail: a key of `expect`, a fault, or
// the limits.
void CheckShowsBug(const Reading& reading, const Scenario& scenario) {
  const Cursor* words = reading.Find("shows_bug");
  const Cursor* expect = reading.Find("expect");
  if (!words) return;
  std::vector<std::string> known = {"fault", "limits"};
  if (expect) {
    for (const auto& [key, member] : expect->Members()) known.push_back(key);
  }
  const std::vector<Cursor> elements = words->Elements();
  for (size_t i = 0; i < std::min(elements.size(), scenario.shows_bug.size()); ++i) {
    const std::string& word = scenario.shows_bug[i];
    const std::string key = word.substr(0, word.find(' '));
    if (std::find(known.begin(), known.end(), key) != known.end()) continue;
    elements[i].Wrong(texts::NotAnExpectationOfFile(key, known));
  }
}

// A scenario that does not state the job's end expects success.
void ExpectAnEnd(const Reading& reading, Scenario& scenario) {
  if (reading.Find("shows_bug")) return;
  if (const Cursor* expect = reading.Find("expect")) {
    for (const char* key : {"state", "states", "error_matches"}) {
      if (expect->Has(key)) return;
    }
    const Cursor at = expect->At("at");
    for (const auto& [word, member] : at.Members()) {
      const std::string state = StateNamed(word);
      if (state == "FAILED" || state == "CANCELLED") return;
    }
  }
  scenario.expectations.insert(scenario.expectations.begin(), ExpectState("SUCCEEDED"));
}

Result<Scenario> Finish(const Reading& reading, const Path& file) {
  Scenario scenario;
  scenario.file = file;
  if (const Cursor* description = reading.Find("description")) {
    scenario.description = description->Text();
  } else {
    reading.Wrong(texts::DescriptionMissing());
  }
  ReadParts(reading, scenario);
  CheckShowsBug(reading, scenario);
  ExpectAnEnd(reading, scenario);
  if (const Cursor* faults = reading.Find("faults")) CheckFaultsOfJob(*faults, scenario);
  if (const Cursor* expect = reading.Find("expect")) {
    CheckExpectations(*expect, scenario);
  }
  RETURN_IF_ERROR(reading.Outcome());
  return scenario;
}

}  // namespace

bool Scenario::needs_twin() const {
  return std::any_of(expectations.begin(), expectations.end(),
                     [](const auto& expectation) { return expectation->needs_twin(); });
}

bool Scenario::HasJob() const { return !words.empty() || !document.is_null(); }

bool Scenario::CommandHas(std::string_view word) const {
  const auto has = [word](const std::string& text) { return text.find(word) != std::string::npos; };
  return std::ranges::any_of(command, has) || std::ranges::any_of(arguments, has) ||
         std::ranges::any_of(members, [&](const ClusterMember& member) {
           return std::ranges::any_of(member.command, has);
         });
}

Result<Scenario> ReadScenario(const Path& file) {
  Reading reading;
  RETURN_IF_ERROR(reading.Open(file));
  return Finish(reading, file);
}

Result<Scenario> ReadScenarioText(const std::string& text, const Path& file) {
  ASSIGN_OR_RETURN(YamlDocument document, ParseYaml(text, file.string()));
  Reading reading;
  RETURN_IF_ERROR(reading.Take(FileTextOf(std::move(document), text, file.string()), file));
  return Finish(reading, file);
}

}  // namespace caip::harness
