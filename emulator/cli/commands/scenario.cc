// `caip scenario run|validate|schema|show`.

#include "harness/scenario/scenario.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <set>
#include <thread>

#include "base/text.h"
#include "base/time_text.h"
#include "emulator/app/attach/interrupt.h"
#include "emulator/cli/arguments/arguments.h"
#include "emulator/cli/commands/commands.h"
#include "emulator/cli/output.h"
#include "emulator/scenario/run_isolation.h"
#include "emulator/scenario/run_scenario.h"
#include "harness/scenario/report.h"
#include "harness/timeline/timeline.h"
#include "report/terminal_size.h"

namespace caip::cli {
namespace {

// The scenario files that the words name. A folder means the scenarios below it, sorted by name.
std::vector<Path> Files(const std::vector<std::string>& words) {
  std::vector<Path> files;
  for (const std::string& word : words) {
    std::error_code error;
    if (!std::filesystem::is_directory(word, error)) {
      files.emplace_back(word);
      continue;
    }
    std::vector<Path> found;
    using Walk = std::filesystem::recursive_directory_iterator;
    for (Walk entry(word, error), end; !error && entry != end; entry.increment(error)) {
      if (harness::IsMeantAsScenario(entry->path())) found.push_back(entry->path());
    }
    std::sort(found.begin(), found.end());
    files.insert(files.end(), found.begin(), found.end());
  }
  return files;
}

// Whether the user named the file itself, not only a folder above it.
bool IsNamed(const std::vector<std::string>& words, const Path& file) {
  return std::find(words.begin(), words.end(), file.string()) != words.end();
}

// The text for people goes to standard error if a report goes to standard output.
void Say(const ScenarioRunCommand& command, const Io& io, const std::string& text) {
  command.junit == "-" || command.json == "-" ? io.err(text) : io.out(text);
}

// The name of each scenario's event list, made from the name of its file. If files have the same
// name, their folder's name becomes a prefix. A number follows if that is not enough.
std::vector<std::string> EventNames(const std::vector<Path>& files) {
  std::map<std::string, int> stems;
  for (const Path& file : files) ++stems[file.stem().string()];
  std::set<std::string> taken;
  std::vector<std::string> names;
  for (const Path& file : files) {
    std::string name = file.stem().string();
    const std::string folder = std::filesystem::absolute(file).parent_path().filename().string();
    if (stems[name] > 1) name = folder + "-" + name;
    std::string free = name;
    for (int i = 2; !taken.insert(free).second; ++i) free = name + "-" + std::to_string(i);
    names.push_back(free + ".jsonl");
  }
  return names;
}

// Whether the event lists are files in a folder. A folder that exists is one for a single scenario,
// too: a workflow of CI does not know how many there are.
bool EventsAreAFolder(const ScenarioRunCommand& command, size_t scenarios) {
  std::error_code ignored;
  return scenarios > 1 ||
         (command.events && std::filesystem::is_directory(*command.events, ignored));
}

/// Runs all scenarios, several at the same time, and reports them in the order of the list.
class ScenarioRunner {
 public:
  ScenarioRunner(const ScenarioRunCommand& command, const Io& io, const Path& workshop)
      : command_(command),
        io_(io),
        workshop_(workshop),
        files_(Files(command.files)),
        event_names_(EventNames(files_)) {
    results_.resize(files_.size());
    done_.resize(files_.size());
  }

  bool empty() const { return files_.empty(); }
  const std::vector<harness::ScenarioResult>& results() const { return results_; }

  void Run(const app::InterruptGuard& guard) {
    const auto cores = static_cast<int64_t>(std::max(1u, std::thread::hardware_concurrency()));
    const int64_t jobs = std::min<int64_t>(command_.jobs > 0 ? command_.jobs : cores,
                                           static_cast<int64_t>(files_.size()));
    std::vector<std::thread> threads;
    for (int64_t i = 0; i < jobs; ++i) {
      threads.emplace_back([this, &guard] { Work(guard); });
    }
    for (std::thread& thread : threads) thread.join();
    for (; reported_ < files_.size(); ++reported_) {  // the other scenarios, after an interruption
      if (!done_[reported_]) {
        results_[reported_].file = files_[reported_].string();
        results_[reported_].not_run = "not started";
      }
      Print(results_[reported_]);
    }
  }

 private:
  void Work(const app::InterruptGuard& guard) {
    for (size_t i = next_++; i < files_.size() && !guard.interrupted(); i = next_++) {
      harness::ScenarioResult one = scenario::RunScenario(files_[i], OptionsFor(i, guard));
      const std::lock_guard lock(mutex_);
      results_[i] = std::move(one);
      done_[i] = true;
      for (; reported_ < files_.size() && done_[reported_]; ++reported_) {
        Print(results_[reported_]);
      }
    }
  }

  void Print(const harness::ScenarioResult& one) const {
    Say(command_, io_, harness::TextReport(one, command_.verbose));
  }

  scenario::RunScenarioOptions OptionsFor(size_t i, const app::InterruptGuard& guard) const {
    scenario::RunScenarioOptions options;
    options.workshop = workshop_;
    options.seed = command_.seed;
    options.keep = command_.keep;
    if (command_.preempt) options.preempt = *harness::ParseMachineLifetime(*command_.preempt);
    if (command_.step_time) options.step_time = ParseDuration(*command_.step_time);
    if (command_.preempt) options.repeated_flags += " --preempt " + *command_.preempt;
    if (command_.step_time) options.repeated_flags += " --step-time " + *command_.step_time;
    options.interrupted = [&guard] { return guard.interrupted(); };
    options.read_words = ReadJobWords;
    options.flags = command_.emulator;
    options.is_from_folder = !IsNamed(command_.files, files_[i]);
    if (command_.events) {
      const Path events = *command_.events;
      options.events =
          EventsAreAFolder(command_, files_.size()) ? events / event_names_[i] : events;
    }
    return options;
  }

  const ScenarioRunCommand& command_;
  const Io& io_;
  Path workshop_;
  std::vector<Path> files_;
  std::vector<std::string> event_names_;
  std::vector<harness::ScenarioResult> results_;
  std::vector<char> done_;
  std::atomic<size_t> next_{0};
  std::mutex mutex_;
  size_t reported_ = 0;
};

Status WriteReports(const ScenarioRunCommand& command,
                    const std::vector<harness::ScenarioResult>& results, const Io& io) {
  RETURN_IF_ERROR(WriteReport(command.junit, harness::JunitReport(results), io));
  return WriteReport(command.json, PrettyJson(harness::JsonReport(results)) + "\n", io);
}

// Before the scenarios run, so that a path that cannot be written is reported at once.
Status CheckScenarioPaths(const ScenarioRunCommand& command, bool events_are_a_folder) {
  RETURN_IF_ERROR(CheckReports({{"--junit", command.junit}, {"--json", command.json}}));
  if (!command.events) return Ok{};
  if (!events_are_a_folder) return CheckReports({{"--events", command.events}});
  RETURN_IF_ERROR(CheckFolder("--events", *command.events));
  return MakeDirectories(*command.events);
}

int ScenarioExitCode(const std::vector<harness::ScenarioResult>& results) {
  int code = kExitSuccess;
  for (const harness::ScenarioResult& one : results) {
    if (!one.not_run.empty()) continue;
    if (one.ours) return kExitOurFault;
    if (!one.error.empty() && !one.cannot) return kExitUsage;
    if (one.error.empty() && !one.verdict.passed) code = kExitFailure;
    if (one.cannot && code == kExitSuccess) code = kExitCannot;
  }
  return code;
}

constexpr size_t kEventBytesMax = 256u << 20;
constexpr int64_t kWidth = 100;
constexpr const char* kNoScenario =
    "No scenario (*.yaml or *.yml) was found. Name a scenario, or a folder that has scenarios.";
constexpr const char* kWhatEventsAre =
    "\nEVENTS is a file that `caip scenario run --events` writes.";
constexpr int64_t kWidthMax = 1000;

int64_t TerminalWidth(const Io& io) {
  return io.out_is_terminal ? static_cast<int64_t>(report::TerminalSizeOf(STDOUT_FILENO).columns)
                            : kWidth;
}

}  // namespace

int RunScenarioRun(const ScenarioRunCommand& command, const Surroundings& world) {
  const Status writable =
      CheckScenarioPaths(command, EventsAreAFolder(command, Files(command.files).size()));
  if (!writable.ok()) return Fail(world.io, "scenario", writable.error().message, kExitUsage);
  const auto workshop =
      scenario::Workshop::Open(app::StateDirectory(command.emulator), command.keep);
  if (!workshop.ok()) {
    const Code code = workshop.error().code;
    const bool lacks = code == Code::kResourceExhausted || code == Code::kUnavailable;
    return Fail(world.io, "scenario", workshop.error().message,
                lacks ? kExitCannot : kExitOurFault);
  }
  ScenarioRunner runner(command, world.io, (*workshop)->path());
  if (runner.empty()) return Fail(world.io, "scenario", kNoScenario, kExitUsage);
  const std::string note = scenario::IsolationNote(command.emulator, (*workshop)->path());
  if (!note.empty()) world.io.err(note + "\n");
  bool interrupted = false;
  {
    const app::InterruptGuard guard;
    runner.Run(guard);
    interrupted = guard.interrupted();
  }
  Say(command, world.io, harness::Summary(runner.results()) + "\n");
  if (command.keep) Say(command, world.io, "kept: " + (*workshop)->path().string() + "\n");
  const Status written = WriteReports(command, runner.results(), world.io);
  if (!written.ok()) return Fail(world.io, "scenario", written.error().message, kExitOurFault);
  return interrupted ? static_cast<int>(kExitInterrupted) : ScenarioExitCode(runner.results());
}

int RunScenarioValidate(const ScenarioValidateCommand& command, const Surroundings& world) {
  int code = kExitSuccess;
  const std::vector<Path> files = Files(command.files);
  for (const Path& file : files) {
    const auto scenario = scenario::ReadScenarioFile(file);
    if (scenario.ok() || (!IsNamed(command.files, file) && harness::IsJobConfig(file))) continue;
    world.io.err(scenario.error().message + "\n");
    code = kExitUsage;
  }
  if (files.empty()) return Fail(world.io, "scenario", kNoScenario, kExitUsage);
  if (code == kExitSuccess) {
    world.io.out(std::to_string(files.size()) +
                 (files.size() == 1 ? " scenario is" : " scenarios are") + " valid\n");
  }
  return code;
}

int RunScenarioSchema(const ScenarioSchemaCommand&, const Surroundings& world) {
  world.io.out(PrettyJson(harness::ScenarioSchema()) + "\n");
  return kExitSuccess;
}

int RunScenarioShow(const ScenarioShowCommand& command, const Surroundings& world) {
  const std::string name = command.events == "-" ? "/dev/stdin" : command.events;
  const auto text = ReadFileUpTo(name, kEventBytesMax);
  if (!text.ok()) {
    return Fail(world.io, "scenario.show", text.error().message + kWhatEventsAre, kExitUsage);
  }
  const auto list = harness::ReadEventList(*text, name);
  if (!list.ok()) return Fail(world.io, "scenario.show", list.error().message, kExitUsage);
  if (!command.html) {
    const int64_t width = command.width.value_or(TerminalWidth(world.io));
    const harness::TimelineStyle style{static_cast<int>(std::min(width, kWidthMax)),
                                       world.io.out_is_terminal};
    world.io.out(Coloured(harness::TimelineText(*list, style)));
    return kExitSuccess;
  }
  const std::string page = harness::TimelineHtml(*list);
  if (*command.html == "-") {
    world.io.out(page);
    return kExitSuccess;
  }
  const Status written = WriteFile(*command.html, page);
  if (!written.ok()) return Fail(world.io, "scenario.show", written.error().message, kExitFailure);
  return kExitSuccess;
}

}  // namespace caip::cli
