// What was logged.

#include <re2/re2.h>

#include "harness/expectations/counts.h"
#include "harness/faults/trigger.h"
#include "harness/faults/trigger_reader.h"

namespace caip::harness {
namespace {

struct ExpectedLine {
  std::string pattern;
  std::string replica;  // "" any
  int boot = 0;         // 0 any
  Count count{1, INT64_MAX};
};

ExpectedLine ReadExpectedLine(const Cursor& cursor) {
  ExpectedLine line;
  if (!cursor.MustBeMap()) return line;
  cursor.OnlyKeys({"match", "replica", "boot", "count"});
  if (!cursor.Has("match")) cursor.Wrong("`match` is missing: a regular expression");
  if (cursor.Has("match")) line.pattern = cursor.At("match").Text();
  if (const auto problem = RegexProblem(line.pattern)) cursor.At("match").Wrong(*problem);
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
