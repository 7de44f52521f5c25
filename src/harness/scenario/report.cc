#include "harness/scenario/report.h"

#include <algorithm>

#include "base/quoting.h"
#include "base/text.h"
#include "base/time_text.h"

namespace caip::harness {
namespace {

bool Passed(const ScenarioResult& one) {
  return one.error.empty() && one.not_run.empty() && one.verdict.passed;
}

size_t PassedCount(const std::vector<ScenarioResult>& results) {
  return static_cast<size_t>(std::count_if(results.begin(), results.end(), Passed));
}

size_t NotRunCount(const std::vector<ScenarioResult>& results) {
  const auto was_not_run = [](const ScenarioResult& one) { return !one.not_run.empty(); };
  return static_cast<size_t>(std::count_if(results.begin(), results.end(), was_not_run));
}

size_t FailedCount(const std::vector<ScenarioResult>& results) {
  return results.size() - PassedCount(results) - NotRunCount(results);
}

std::string SecondsReport(Duration time) {
  const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(time).count();
  std::string fraction = std::to_string(ms % 1000);
  return std::to_string(ms / 1000) + "." + std::string(3 - fraction.size(), '0') + fraction;
}

Json AssertionJson(const Assertion& assertion) {
  return {{"name", assertion.name},
          {"expected", assertion.expected},
          {"found", assertion.found},
          {"passed", assertion.passed}};
}

Json FaultJson(const FaultTally& fault) {
  return {{"name", fault.name}, {"what", fault.what}, {"struck_at", fault.injected_at}};
}

Json RestartsJson(const Evidence& run) {
  Json restarts = Json::object();
  for (const Event& event : run.events) {
    if (!event.Is<StartEvent>()) continue;
    const std::string& replica = event.replica;
    restarts[replica] = restarts.contains(replica) ? restarts[replica].get<int>() + 1 : 0;
  }
  return restarts;
}

Json ResultJson(const ScenarioResult& one) {
  Json json = {{"file", one.file},
               {"description", one.description},
               {"seed", one.seed},
               {"passed", Passed(one)},
               {"seconds", std::stod(SecondsReport(one.took))},
               {"replay", one.replay}};
  if (!one.not_run.empty()) json["not_run"] = one.not_run;
  if (!one.error.empty()) json["error"] = one.error;
  if (!one.error.empty() || !one.not_run.empty()) return json;
  if (!one.verdict.why_not.empty()) json["why_not"] = one.verdict.why_not;
  json["state"] = one.run.state;
  if (!one.run.error_message.empty()) json["error_message"] = one.run.error_message;
  json["restarts"] = RestartsJson(one.run);
  if (one.cost) json["preemption"] = ToJson(*one.cost);
  json["assertions"] = Json::array();
  for (const Assertion& assertion : one.verdict.assertions) {
    json["assertions"].push_back(AssertionJson(assertion));
  }
  json["faults"] = Json::array();
  for (const FaultTally& fault : one.run.faults) json["faults"].push_back(FaultJson(fault));
  return json;
}

// "the job ended FAILED: ...". If a limit ended the run, the state in which the job was.
std::string DescribeJobEnd(const Evidence& run) {
  const std::string end = run.broke_off.empty() ? "the job ended " : "the job was ";
  if (run.state == "SUCCEEDED") return end + run.state;
  const std::string why = DescribeFailure(run);
  return end + run.state + (why.empty() ? "" : ": " + ReplaceAll(why, "\n", "\n    "));
}

std::string JunitCase(const ScenarioResult& one, const Assertion& assertion) {
  std::string text = "    <testcase classname=\"" + XmlText(one.file) + "\" name=\"" +
                     XmlText(assertion.name) + "\" time=\"0\"";
  if (assertion.passed) return text + "/>\n";
  return text + ">\n      <failure message=\"expected " + XmlText(assertion.expected) + ", found " +
         XmlText(assertion.found) + "\">" + XmlText(one.replay) + "</failure>\n    </testcase>\n";
}

std::string JunitSuite(const ScenarioResult& one) {
  std::string cases;
  size_t failed = 0;
  const std::string head = "    <testcase classname=\"" + XmlText(one.file) + "\" name=\"";
  if (!one.not_run.empty()) {
    cases += head + "played\" time=\"0\">\n      <skipped message=\"" + XmlText(one.not_run) +
             "\"/>\n    </testcase>\n";
  } else if (!one.error.empty()) {
    cases += head + "played\" time=\"0\">\n      <error message=\"" + XmlText(one.error) +
             "\"/>\n    </testcase>\n";
  } else {
    // A passed scenario that shows a bug omits its failed assertions. If its bug did not appear,
    // one case reports that.
    for (const Assertion& assertion : one.verdict.assertions) {
      if (!assertion.passed && one.verdict.passed) continue;
      failed += assertion.passed ? 0 : 1;
      cases += JunitCase(one, assertion);
    }
    if (!one.verdict.passed && failed == 0) {
      ++failed;
      cases += head + "verdict\" time=\"0\">\n      <failure message=\"" +
               XmlText(one.verdict.why_not) + "\"/>\n    </testcase>\n";
    }
  }
  size_t tests = 0;
  for (size_t at = cases.find("<testcase"); at != std::string::npos;
       at = cases.find("<testcase", at + 1)) {
    ++tests;
  }
  return "  <testsuite name=\"" + XmlText(one.file) + "\" tests=\"" + std::to_string(tests) +
         "\" failures=\"" + std::to_string(failed) + "\" errors=\"" +
         (one.error.empty() ? "0" : "1") + "\" skipped=\"" + (one.not_run.empty() ? "0" : "1") +
         "\" time=\"" + SecondsReport(one.took) + "\">\n" + cases + "  </testsuite>\n";
}

}  // namespace

std::string XmlText(const std::string& raw) { return ReplaceAll(MarkupText(raw), "\n", "&#10;"); }

std::string TextReport(const ScenarioResult& one, bool verbose) {
  if (!one.not_run.empty()) return "NOT RUN " + one.file + "  (" + one.not_run + ")\n";
  const bool passed = Passed(one);
  std::string text = std::string(passed ? "PASSED " : "FAILED ") + one.file + "  (" +
                     HumanDuration(one.took) + ", seed " + std::to_string(one.seed) + ")\n";
  if (!one.error.empty()) return text + "  " + ReplaceAll(one.error, "\n", "\n  ") + "\n";
  for (const FaultTally& fault : one.run.faults) {
    if (!passed || !fault.if_reached || !fault.injected_at.empty()) continue;
    text += "  fault " + fault.name + " was not injected, because " + fault.what +
            " does not occur any more: `caip explore` finds the new crash points\n";
  }
  if (one.cost) text += "  " + Describe(*one.cost) + "\n";
  if (passed && !verbose) return text;
  text += "  " + one.description + "\n";
  for (const Assertion& assertion : one.verdict.assertions) {
    text += std::string(assertion.passed ? "    ok      " : "    BROKEN  ") + assertion.name +
            ": expected " + assertion.expected + ", found " +
            std::string(Trim(ReplaceAll(assertion.found, "\n", "\n            "))) + "\n";
  }
  if (!one.verdict.why_not.empty()) text += "  " + one.verdict.why_not + "\n";
  if (!passed) text += "  " + DescribeJobEnd(one.run) + "\n";
  return text + "  again: " + one.replay + "\n";
}

std::string Summary(const std::vector<ScenarioResult>& results) {
  const size_t not_run = NotRunCount(results);
  return std::to_string(results.size()) + (results.size() == 1 ? " scenario: " : " scenarios: ") +
         std::to_string(PassedCount(results)) + " passed, " + std::to_string(FailedCount(results)) +
         " failed" + (not_run > 0 ? ", " + std::to_string(not_run) + " not run" : "");
}

Json JsonReport(const std::vector<ScenarioResult>& results) {
  Json all = Json::array();
  for (const ScenarioResult& one : results) all.push_back(ResultJson(one));
  return {{"scenarios", std::move(all)},
          {"passed", PassedCount(results)},
          {"failed", FailedCount(results)},
          {"not_run", NotRunCount(results)}};
}

std::string JunitReport(const std::vector<ScenarioResult>& results) {
  std::string suites;
  for (const ScenarioResult& one : results) suites += JunitSuite(one);
  return "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"caip scenario\">\n" +
         suites + "</testsuites>\n";
}

Json EventListHead(const std::string& file, const std::string& description, uint64_t seed,
                   const std::string& semantics) {
  return {{"kind", "scenario"},         {"version", 1}, {"file", file},
          {"description", description}, {"seed", seed}, {"semantics", semantics}};
}

Json EventListEnd(const ScenarioResult& result) {
  Json json = ResultJson(result);
  json.erase("seconds");
  Json end = {{"kind", "verdict"}};
  end.update(json);
  return end;
}

std::string QuoteLastLines(const Evidence& run) {
  constexpr size_t kLinesMax = 12;
  std::string failed;
  for (const Event& event : run.events) {
    const auto* exit = event.As<ExitEvent>();
    if (exit && !EndedWell(*exit) && failed.empty()) failed = event.replica;
  }
  std::vector<std::string> lines;
  for (const Event& event : run.events) {
    const std::string* line = FindPrintedLine(event);
    if (line && !failed.empty() && event.replica == failed) lines.push_back(*line);
  }
  if (lines.empty()) return "";
  std::string text = "the last lines of " + failed + ":";
  const size_t begin = lines.size() - std::min(lines.size(), kLinesMax);
  for (size_t i = begin; i < lines.size(); ++i) {
    text += "\n  | " + ReplaceAll(lines[i], "\n", "\n  | ");
  }
  return text;
}

std::string DescribeFailure(const Evidence& run) {
  constexpr std::string_view kQuote = "Traceback (most recent call last):";
  std::string text(Trim(run.error_message.substr(0, run.error_message.find(kLogHint))));
  if (!run.broke_off.empty()) text += (text.empty() ? "" : "\n") + run.broke_off;
  const std::string lines = text.find(kQuote) == text.npos ? QuoteLastLines(run) : "";
  if (!lines.empty()) text += (text.empty() ? "" : "\n") + lines;
  return text;
}

}  // namespace caip::harness
