// Expectations of reported steps and printed lines.

#include <re2/re2.h>

#include <optional>

#include "harness/expectations/counts.h"
#include "harness/expectations/expectation_texts.h"
#include "harness/expectations/twin_comparison.h"
#include "harness/faults/trigger.h"
#include "harness/faults/trigger_reader.h"
#include "harness/scenario/scenario_texts.h"

namespace caip::harness {
namespace {

constexpr int64_t kStepsMax = 1'000'000;

// The steps that a boot reported, in their order.
std::vector<int64_t> ReportedSteps(const Evidence& run, const std::string& replica, int boot) {
  std::vector<int64_t> steps;
  for (const Event& event : run.events) {
    const auto* step = event.As<StepEvent>();
    if (step && event.replica == replica && event.boot == boot) steps.push_back(step->step);
  }
  return steps;
}

std::string BootName(const std::string& replica, int boot) {
  return replica + " boot " + std::to_string(boot);
}

// The first field in which two records differ.
std::optional<std::string> FindDifferingField(const Json& a, const Json& b,
                                              const StepComparison& how) {
  for (const auto& [name, value] : a.items()) {
    if (!how.Compares(name)) continue;
    const Json* other = Member(b, name);
    if (!other || !how.Equal(value, *other)) return name;
  }
  for (const auto& [name, value] : b.items()) {
    if (how.Compares(name) && !a.contains(name)) return name;
  }
  return std::nullopt;
}

Assertion CompareReplica(const ComparedRuns& runs, const std::string& replica,
                         const StepComparison& how) {
  const StepRecords mine = EffectiveSteps(runs.run, replica);
  const StepRecords twins = EffectiveSteps(*runs.twin, replica);
  Assertion assertion{"same_steps_as_twin " + replica, "", "", false};
  std::set<int64_t> my_steps;
  std::set<int64_t> twin_steps;
  for (const auto& [step, record] : mine) my_steps.insert(step);
  for (const auto& [step, record] : twins) twin_steps.insert(step);
  if (my_steps != twin_steps) {
    assertion.expected = "steps " + RangesText(twin_steps);
    assertion.found = "steps " + RangesText(my_steps);
    return assertion;
  }
  for (const auto& [step, record] : twins) {
    const Json& found = mine.at(step);
    const auto field = FindDifferingField(record, found, how);
    if (!field) continue;
    const std::string at = "step " + std::to_string(step) + " " + *field + " ";
    const Json* a = Member(record, *field);
    const Json* b = Member(found, *field);
    assertion.expected = at + (a ? CompactJson(*a) : "missing");
    assertion.found = at + (b ? CompactJson(*b) : "missing");
    return assertion;
  }
  assertion.expected = assertion.found = std::to_string(twins.size()) + " equal records";
  assertion.passed = true;
  return assertion;
}

}  // namespace

ExpectationPtr ReadFirstStep(const Cursor& cursor) {
  std::map<std::pair<std::string, int>, Count> wanted;
  if (!cursor.MustBeMap()) return nullptr;
  for (const auto& [replica, boots] : cursor.Members()) {
    const std::string whose = ReplicaOfKey(replica, boots);
    if (!boots.MustBeMap()) continue;
    for (const auto& [boot, step] : boots.Members()) {
      wanted[{whose, BootOfKey(boot, step)}] = ReadCount(step);
    }
  }
  return Expect([wanted](const ComparedRuns& runs) {
    std::vector<Assertion> assertions;
    for (const auto& [key, step] : wanted) {
      const std::vector<int64_t> steps = ReportedSteps(runs.run, key.first, key.second);
      const std::string found = steps.empty() ? "no step" : std::to_string(steps.front());
      assertions.push_back({"first_step " + BootName(key.first, key.second), Text(step), found,
                            !steps.empty() && step.Holds(steps.front())});
    }
    return assertions;
  });
}

ExpectationPtr ReadNoSteps(const Cursor& cursor) {
  std::vector<std::pair<std::string, int>> wanted;
  if (!cursor.MustBeMap()) return nullptr;
  for (const auto& [replica, boots] : cursor.Members()) {
    for (const Cursor& boot : boots.Elements()) {
      wanted.emplace_back(ReplicaOfKey(replica, boots), static_cast<int>(boot.Integer(1, 1000)));
    }
  }
  return Expect([wanted](const ComparedRuns& runs) {
    std::vector<Assertion> assertions;
    for (const auto& [replica, boot] : wanted) {
      const std::vector<int64_t> steps = ReportedSteps(runs.run, replica, boot);
      const std::set<int64_t> found(steps.begin(), steps.end());
      assertions.push_back(
          {"no_steps " + BootName(replica, boot), "none", RangesText(found), steps.empty()});
    }
    return assertions;
  });
}

ExpectationPtr ReadSteps(const Cursor& cursor) {
  std::map<std::string, Count> wanted;
  if (!cursor.MustBeMap()) return nullptr;
  for (const auto& [replica, range] : cursor.Members()) {
    const Count steps = ReadCount(range);
    wanted[ReplicaOfKey(replica, range)] = steps;
    if (steps.most - steps.least >= kStepsMax) {
      range.Wrong(texts::StepRangeNotValid());
    }
  }
  return Expect([wanted](const ComparedRuns& runs) {
    std::vector<Assertion> assertions;
    for (const auto& [replica, range] : wanted) {
      std::set<int64_t> all;
      for (int64_t step = range.least; step <= range.most; ++step) all.insert(step);
      std::set<int64_t> found;
      for (const auto& [step, record] : EffectiveSteps(runs.run, replica)) found.insert(step);
      assertions.push_back({"steps " + replica, RangesText(all), RangesText(found), all == found});
    }
    return assertions;
  });
}

ExpectationPtr ReadStepsNeverGoBack(const Cursor& cursor) {
  std::vector<std::string> replicas;
  for (const Cursor& element : cursor.Elements()) replicas.push_back(ReadReplica(element));
  return Expect([replicas](const ComparedRuns& runs) {
    std::vector<Assertion> assertions;
    for (const std::string& replica : replicas) {
      Assertion assertion{"steps_never_go_back " + replica, "each step above the last", "so", true};
      int64_t last = INT64_MIN;
      for (const Event& event : runs.run.events) {
        const auto* step = event.As<StepEvent>();
        if (!step || event.replica != replica) continue;
        if (step->step <= last && assertion.passed) {
          assertion.passed = false;
          assertion.found = "step " + std::to_string(step->step) + " after " +
                            std::to_string(last) + " (event " + std::to_string(event.number) + ")";
        }
        last = step->step;
      }
      assertions.push_back(std::move(assertion));
    }
    return assertions;
  });
}

ExpectationPtr ReadSameStepsAsTwin(const Cursor& cursor) {
  const StepComparison how = ReadStepComparison(cursor);
  if (!cursor.IsMap() && !cursor.Flag()) return nullptr;
  return Expect(
      [how](const ComparedRuns& runs) {
        std::vector<Assertion> assertions;
        const std::set<std::string> replicas =
            how.replicas.empty() ? ReplicasWithSteps(*runs.twin) : how.replicas;
        for (const std::string& replica : replicas) {
          assertions.push_back(CompareReplica(runs, replica, how));
        }
        return assertions;
      },
      true);
}

namespace {

struct ExpectedLine {
  std::string pattern;
  std::string replica;  // "": any
  int boot = 0;         // 0: any
  Count count{1, INT64_MAX};
};

ExpectedLine ReadExpectedLine(const Cursor& cursor) {
  ExpectedLine line;
  if (!cursor.MustBeMap()) return line;
  cursor.OnlyKeys({"match", "replica", "boot", "count"});
  if (!cursor.Has("match")) cursor.Wrong(texts::MatchMissing());
  if (cursor.Has("match")) line.pattern = cursor.At("match").Text();
  if (const auto problem = RegexProblem(line.pattern)) {
    cursor.At("match").Wrong(texts::RegexNotValid(*problem));
  }
  if (cursor.Has("replica")) {
    const bool service = cursor.At("replica").json() == "service";
    line.replica = service ? "service" : ReadReplica(cursor.At("replica"));
  }
  if (cursor.Has("boot")) line.boot = static_cast<int>(cursor.At("boot").Integer(1));
  if (cursor.Has("count")) line.count = ReadCount(cursor.At("count"));
  return line;
}

Assertion CountLines(const ExpectedLine& line, const Evidence& run) {
  const re2::RE2 re(line.pattern);
  int64_t found = 0;
  for (const Event& event : run.events) {
    const std::string* text = FindPrintedLine(event);
    const bool whose = (line.replica.empty() || event.replica == line.replica) &&
                       (line.boot == 0 || event.boot == line.boot);
    if (text && whose && re2::RE2::PartialMatch(*text, re)) ++found;
  }
  std::string name = "log /" + line.pattern + "/";
  if (!line.replica.empty()) name += " of " + line.replica;
  if (line.boot > 0) name += " boot " + std::to_string(line.boot);
  return {name, Text(line.count), std::to_string(found), line.count.Holds(found)};
}

}  // namespace

ExpectationPtr ReadLog(const Cursor& cursor) {
  std::vector<ExpectedLine> lines;
  for (const Cursor& element : cursor.Elements()) lines.push_back(ReadExpectedLine(element));
  return Expect([lines](const ComparedRuns& runs) {
    std::vector<Assertion> assertions;
    for (const ExpectedLine& line : lines) assertions.push_back(CountLines(line, runs.run));
    return assertions;
  });
}

}  // namespace caip::harness
