// caip-conform: see README.md. `caip conform` runs it.

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>

#include "conformance/arguments.h"
#include "conformance/format/case_file.h"
#include "conformance/problems.h"
#include "conformance/report/report.h"
#include "conformance/report/report_files.h"
#include "conformance/setting_up.h"
#include "conformance/terminal.h"
#include "conformance/wire/pause.h"

namespace {

using namespace conform;

int Tell(int code, const std::string& text) {
  std::cerr << "ERROR: (caip.conform) " << ForPeople(text) << "\n";
  return code;
}

// The command line without the options that select cases and write reports.
std::string ReplayStart(int argc, char** argv) {
  const std::string words[] = {"--filter", "--chapter", "--shard",   "--junit",
                               "--json",   "--tap",     "--markdown"};
  std::string text = "caip conform";
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    bool skip = false;
    for (const std::string& one : words) {
      if (word == one) ++i;  // the next word is its value
      skip = skip || word == one || word.starts_with(one + "=");
    }
    if (skip) continue;
    const bool plain = word.find_first_of(" '\"$&|;<>()*?") == std::string::npos;
    text += plain ? " " + word : " '" + word + "'";
  }
  return text;
}

int List(const std::vector<Case>& cases) {
  for (const Case& one : cases) std::cout << one.id << "  " << one.sentence << "\n";
  return kExitFine;
}

int TellCoverage(const RuleBook& rules, const std::vector<Case>& cases) {
  const Coverage coverage = CoverageOf(rules, cases);
  std::cout << CoverageText(rules, coverage);
  return coverage.uncovered.empty() && coverage.stale.empty() ? kExitFine : kExitFailed;
}

void ShowProgress(size_t done, size_t all, const Case& one) {
  std::string line = "\r" + std::to_string(done) + "/" + std::to_string(all) + " " + one.id;
  line.resize(78, ' ');
  std::cerr << line << "\r" << std::flush;
}

int Report(const Arguments& arguments, const Run& run, const ReportFacts& facts) {
  std::string failed;
  const auto write = [&](const std::string& file, const std::string& text) {
    if (!WriteReportFile(file, text)) failed = file;
  };
  const bool taken = arguments.junit == "-" || arguments.json == "-" || arguments.tap == "-" ||
                     arguments.markdown == "-";
  std::ostream& people = taken ? std::cerr : std::cout;
  people << ForPeople(TextReport(run, facts));
  write(arguments.junit, JunitReport(run, facts));
  write(arguments.json, JsonReport(run, facts));
  write(arguments.tap, TapReport(run, facts));
  write(arguments.markdown, MarkdownReport(run, facts));
  if (std::getenv("GITHUB_ACTIONS")) people << ForPeople(GithubReport(run, facts));
  if (!failed.empty()) return Tell(kExitUsage, problems::FileUnwritable(failed).text);
  if (run.interrupted) return kExitInterrupted;
  const int bad = run.Count(Verdict::kFailed) + run.Count(Verdict::kUnexpected);
  return bad ? kExitFailed : kExitFine;
}

// For `--endpoint none`: only cases that judge one of the commands.
std::vector<Case> OfCommands(const std::vector<Case>& cases, const Arguments& arguments) {
  const std::pair<const char*, bool> commands[] = {
      {"submit", !arguments.submit_command.empty()},
      {"custom-jobs", !arguments.custom_job_command.empty()},
      {"train", !arguments.train_command.empty()}};
  std::vector<Case> chosen;
  for (const Case& one : cases) {
    for (const auto& [need, is_given] : commands) {
      if (is_given && std::ranges::find(one.needs, need) != one.needs.end()) chosen.push_back(one);
    }
  }
  return chosen;
}

// The APIs to judge: those of --api, else those of the target.
std::set<std::string> ApisOf(const Arguments& arguments, const Target& target) {
  if (arguments.api == "all") return {"ml", "vertex"};
  return arguments.api.empty() ? target.apis : std::set<std::string>{arguments.api};
}

// The cases that the command line selects.
std::vector<Case> Selected(const std::vector<Case>& cases, const Arguments& arguments,
                           const std::set<std::string>& apis) {
  const bool is_none = arguments.endpoint == "none";  // a command tells its API
  return Chosen(is_none ? OfCommands(cases, arguments) : OfApis(cases, apis), arguments.filters,
                arguments.chapters, arguments.shard);
}

int Main(int argc, char** argv) {
  const ParsedArguments parsed = ParseArguments(argc, argv);
  if (!parsed.arguments) return parsed.exit_code;
  const Arguments& arguments = *parsed.arguments;
  const Result<RuleBook> rules = ReadRules(arguments.home + "/rules");
  if (!rules.ok()) return Tell(kExitUsage, rules.problem().text);
  const Result<std::vector<Case>> cases = ReadCases(arguments.cases, IdsOf(rules.value()));
  if (!cases.ok()) return Tell(kExitUsage, cases.problem().text);
  if (arguments.coverage) return TellCoverage(rules.value(), cases.value());
  Result<Target> target = ReadTarget(arguments.target);
  if (!target.ok()) return Tell(kExitUsage, target.problem().text);
  if (auto problem = CheckMisses(target.value(), arguments.target, cases.value())) {
    return Tell(kExitUsage, problem->text);
  }
  Target judged = std::move(target).value();
  judged.apis = ApisOf(arguments, judged);
  std::vector<Case> chosen = Selected(cases.value(), arguments, judged.apis);
  if (chosen.empty()) return Tell(kExitUsage, problems::NoCaseChosen());
  if (arguments.list) return List(chosen);
  if (auto problem = CheckReportFiles({{"--junit", arguments.junit},
                                       {"--json", arguments.json},
                                       {"--tap", arguments.tap},
                                       {"--markdown", arguments.markdown}})) {
    return Tell(kExitUsage, problem->text);
  }

  WatchForInterrupts();
  const auto setup = SetUp(arguments, std::move(judged));
  if (!setup.ok()) return Tell(kExitCannot, setup.problem().text);
  if (auto problem = UploadPackage(*setup.value())) return Tell(kExitCannot, problem->text);
  const bool live = ::isatty(STDERR_FILENO) == 1;
  const size_t all = chosen.size();
  const Run run = RunCases(setup.value()->world, std::move(chosen), arguments.jobs,
                           arguments.fail_fast, [&](size_t done, const Case& one, const Outcome&) {
                             if (live) ShowProgress(done, all, one);
                           });
  DeleteObjects(*setup.value());
  const ReportFacts facts{setup.value()->world.target.name, ReplayStart(argc, argv),
                          ::isatty(STDOUT_FILENO) == 1, arguments.verbose, &rules.value()};
  return Report(arguments, run, facts);
}

}  // namespace

int main(int argc, char** argv) {
  ::signal(SIGPIPE, SIG_IGN);
  try {
    return Main(argc, argv);
  } catch (const std::exception& broken) {
    return Tell(kExitOurFault, broken.what());
  }
}
