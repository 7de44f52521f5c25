#include "emulator/explore/explore_report.h"

#include <algorithm>
#include <chrono>
#include <numeric>
#include <set>

#include "base/quoting.h"
#include "base/text.h"
#include "harness/scenario/report.h"

namespace caip::explore {
namespace {

double SecondsOf(Duration time) { return std::chrono::duration<double>(time).count(); }

const char* DiskOf(const ExploreFinding& finding) {
  const bool is_kept = finding.what == Interruption::kProcessKilled || !Restarts(finding.what);
  return is_kept ? "kept" : "new";
}

Json FindingJson(const ExploreFinding& finding, const ReportHead& head) {
  Json json = {{"cause", finding.flaw.cause},
               {"sure", IsSure(finding)},
               {"points", finding.points},
               {"interruption", Name(finding.what)},
               {"disk", DiskOf(finding)},
               {"restart", harness::Describe(finding.point)},
               {"expected", finding.flaw.expected},
               {"found", finding.flaw.found},
               {"also", finding.also},
               {"scenario", finding.scenario.string()},
               {"replay", ReplayOf(finding, head)}};
  if (finding.second) json["second_restart"] = harness::Describe(*finding.second);
  if (!finding.flaw.doubt.empty()) json["doubt"] = finding.flaw.doubt;
  if (!finding.resumed.empty()) json["resumed"] = finding.resumed;
  if (!finding.once_more.empty()) json["sent_again"] = finding.once_more;
  if (!finding.remark.empty()) json["remark"] = finding.remark;
  if (finding.left_out > 0) json["not_tried"] = finding.left_out;
  return json;
}

std::string WhereOf(const ExploreFinding& finding) {
  return Describe(finding.what, finding.point) +
         (finding.second ? ", then " + harness::Describe(*finding.second) : "");
}

std::string Details(const ExploreFinding& finding, const ReportHead& head) {
  std::string text = WhereOf(finding) + "\nexpected " + finding.flaw.expected + "\nfound    " +
                     finding.flaw.found + "\n";
  if (!finding.resumed.empty()) text += "then     " + finding.resumed + "\n";
  if (!finding.once_more.empty()) text += "after    " + DescribeOnceMore(finding) + "\n";
  if (!IsSure(finding)) text += "may be harmless: " + finding.flaw.doubt + "\n";
  if (!finding.remark.empty()) text += finding.remark + "\n";
  if (finding.left_out > 0) text += "not tried: " + DescribeLeftOut(finding) + "\n";
  return text + "again: " + ReplayOf(finding, head) + "\n";
}

std::string JunitCase(const ExploreFinding& finding, const ReportHead& head) {
  const std::string details = harness::XmlText(Details(finding, head));
  std::string text = "    <testcase classname=\"" + harness::XmlText(head.subject) + "\" name=\"" +
                     harness::XmlText(OneLine(finding.flaw.cause)) + "\" time=\"0\">\n      ";
  if (IsSure(finding)) {
    text += "<failure message=\"" + harness::XmlText(finding.flaw.found) + "\">" + details +
            "</failure>";
  } else {  // JUnit has no warnings
    text += "<system-out>" + details + "</system-out>";
  }
  return text + "\n    </testcase>\n";
}

// The cause without its object or message: "the-job-ends-failed".
std::string RuleOf(const ExploreFinding& finding) {
  const std::string& cause = finding.flaw.cause;
  std::string rule;
  for (const char c : cause.substr(0, cause.find_first_of(":'"))) {
    const char low = (c >= 'A' && c <= 'Z') ? static_cast<char>(c - 'A' + 'a') : c;
    const bool is_word = (low >= 'a' && low <= 'z') || (low >= '0' && low <= '9');
    if (is_word) rule += low;
    if (!is_word && !rule.empty() && rule.back() != '-') rule += '-';
  }
  while (rule.ends_with('-')) rule.pop_back();
  return rule;
}

Json SarifResult(const ExploreFinding& finding, const ReportHead& head) {
  const Json location = {{"artifactLocation", {{"uri", finding.scenario.string()}}},
                         {"region", {{"startLine", 1}}}};
  return {{"ruleId", RuleOf(finding)},
          {"level", IsSure(finding) ? "error" : "note"},
          {"message", {{"text", finding.flaw.cause + "\n" + Details(finding, head)}}},
          {"locations", Json::array({{{"physicalLocation", location}}})}};
}

}  // namespace

bool IsSure(const ExploreFinding& finding) { return finding.flaw.doubt.empty(); }

std::string OneLine(std::string_view text) {
  return ReplaceAll(ReplaceAll(std::string(text), "\r", "\\r"), "\n", "\\n");
}

std::string DescribeOnceMore(const ExploreFinding& finding) {
  return finding.once_more == "SUCCEEDED"
             ? "sent again without a fault, the job succeeds"
             : "sent again without a fault, the job ends " + finding.once_more +
                   ", too: with what is stored now it can never succeed";
}

std::string ReplayOf(const ExploreFinding& finding, const ReportHead& head) {
  return "caip scenario run " + ShellQuoted(finding.scenario.string()) + head.flags;
}

size_t CountLeftOut(const ExploreReport& report) {
  return std::accumulate(report.left_out.begin(), report.left_out.end(), size_t{0},
                         [](size_t sum, const auto& one) { return sum + one.second; });
}

std::string DescribeLeftOut(const ExploreFinding& finding) {
  if (finding.left_out == 0) return "";
  return std::to_string(finding.left_out) +
         (finding.left_out == 1 ? " point like it" : " points like it") +
         " (--all-points tries them)";
}

std::string WhyNotAll(const ExploreReport& report) {
  const size_t count = CountLeftOut(report);
  if (count == 0) return report.ended;
  return (report.ended.empty() ? "" : report.ended + "; ") + std::to_string(count) +
         (count == 1 ? " restart is" : " restarts are") +
         " like others that only a limit ended (--all-points tries them)";
}

Json JsonReport(const ExploreReport& report, const ReportHead& head) {
  Json findings = Json::array();
  for (const ExploreFinding& finding : report.findings) {
    findings.push_back(FindingJson(finding, head));
  }
  Json json = {{"version", 1},
               {"subject", head.subject},
               {"crash_points", report.points},
               {"restarts", report.recorded + report.whole},
               {"tried", report.tried},
               {"known", report.known},
               {"missed", report.missed},
               {"not_tried", CountLeftOut(report)},
               {"baseline_seconds", SecondsOf(report.baseline)},
               {"seconds", SecondsOf(report.took)},
               {"not_compared", report.not_compared},
               {"counts_starts", report.counting},
               {"findings", std::move(findings)}};
  if (const std::string why = WhyNotAll(report); !why.empty()) json["ended"] = why;
  if (report.broke) json["error"] = report.broke->message;
  return json;
}

std::string JunitReport(const ExploreReport& report, const ReportHead& head) {
  const auto failed = std::ranges::count_if(report.findings, IsSure);
  const std::string why = report.broke ? report.broke->message : WhyNotAll(report);
  std::string text =
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"caip "
      "explore\">\n  <testsuite name=\"" +
      harness::XmlText(head.subject) + "\" tests=\"" + std::to_string(report.findings.size() + 1) +
      "\" failures=\"" + std::to_string(failed) + "\" errors=\"0\" skipped=\"" +
      (why.empty() ? "0" : "1") + "\">\n";
  text += "    <testcase classname=\"" + harness::XmlText(head.subject) + "\" name=\"" +
          std::to_string(report.tried) + " of " + std::to_string(report.recorded + report.whole) +
          " restarts are tried\" time=\"" + std::to_string(SecondsOf(report.took)) + "\"";
  text += why.empty()
              ? "/>\n"
              : ">\n      <skipped message=\"" + harness::XmlText(why) + "\"/>\n    </testcase>\n";
  for (const ExploreFinding& finding : report.findings) text += JunitCase(finding, head);
  return text + "  </testsuite>\n</testsuites>\n";
}

Json SarifReport(const ExploreReport& report, const ReportHead& head) {
  Json results = Json::array();
  Json rules = Json::array();
  std::set<std::string> known;
  for (const ExploreFinding& finding : report.findings) {
    const std::string rule = RuleOf(finding);
    results.push_back(SarifResult(finding, head));
    const std::string name = ReplaceAll(rule, "-", " ");
    if (known.insert(rule).second) {
      rules.push_back({{"id", rule}, {"shortDescription", {{"text", name}}}});
    }
  }
  const Json driver = {
      {"name", "caip explore"}, {"version", head.version}, {"rules", std::move(rules)}};
  Json run = {{"tool", {{"driver", driver}}}, {"results", std::move(results)}};
  return {{"$schema", "https://json.schemastore.org/sarif-2.1.0.json"},
          {"version", "2.1.0"},
          {"runs", Json::array({std::move(run)})}};
}

}  // namespace caip::explore
