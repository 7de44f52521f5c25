// The reports for machines.

#include <sstream>

#include "conformance/report/report.h"

namespace conform {
namespace {

std::string XmlText(const std::string& text) {
  std::string out;
  for (const char c : text) {
    const unsigned char byte = static_cast<unsigned char>(c);
    if (c == '&')
      out += "&amp;";
    else if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else if (c == '"')
      out += "&quot;";
    else if (byte < 0x20 && c != '\n' && c != '\t')
      out += '?';
    else
      out += c;
  }
  return out;
}

std::string Details(const Outcome& outcome) {
  std::string text = outcome.why;
  for (const Mismatch& mismatch : outcome.mismatches) {
    text += "\n" + mismatch.where + ": " + mismatch.text;
  }
  return text;
}

std::string FirstLine(const std::string& text) { return text.substr(0, text.find('\n')); }

// Escapes data in a workflow command of GitHub Actions.
std::string CommandText(const std::string& text) {
  std::string out;
  for (const char c : text) {
    out += c == '%' ? "%25" : c == '\r' ? "%0D" : c == '\n' ? "%0A" : std::string(1, c);
  }
  return out;
}

void AddJunitCase(const Case& one, const Outcome& outcome, const ReportFacts& facts,
                  std::ostringstream& out) {
  out << "    <testcase classname=\"" << XmlText(one.chapter) << "\" name=\""
      << XmlText(one.id.substr(one.chapter.size() + 1) + ": " + one.sentence) << "\" file=\""
      << XmlText(one.place) << "\" time=\"" << outcome.seconds << "\"";
  if (outcome.verdict == Verdict::kPassed) {
    out << "/>\n";
    return;
  }
  const bool bad = IsBad(outcome.verdict);
  const std::string text = Details(outcome) + (bad ? "\nagain: " + ReplayOf(one, facts) : "");
  out << ">\n      <" << (bad ? "failure" : "skipped") << " message=\""
      << XmlText(FirstLine(outcome.why)) << "\">" << XmlText(text) << "</"
      << (bad ? "failure" : "skipped") << ">\n    </testcase>\n";
}

Json JsonOf(const Case& one, const Outcome& outcome, const ReportFacts& facts) {
  Json shown = {{"id", one.id},
                {"chapter", one.chapter},
                {"sentence", one.sentence},
                {"place", one.place},
                {"rules", one.rules},
                {"verdict", NameOf(outcome.verdict)},
                {"seconds", outcome.seconds}};
  if (facts.rules) shown["source"] = SourceOf(one, *facts.rules);
  if (outcome.verdict == Verdict::kPassed) return shown;
  shown["why"] = outcome.why;
  shown["mismatches"] = Json::array();
  for (const Mismatch& mismatch : outcome.mismatches) {
    shown["mismatches"].push_back({{"where", mismatch.where}, {"text", mismatch.text}});
  }
  if (IsBad(outcome.verdict)) shown["replay"] = ReplayOf(one, facts);
  return shown;
}

}  // namespace

std::string JunitReport(const Run& run, const ReportFacts& facts) {
  std::ostringstream out;
  out << "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"caip conform "
      << XmlText(facts.target) << "\" tests=\"" << run.cases.size() << "\" failures=\""
      << run.Count(Verdict::kFailed) + run.Count(Verdict::kUnexpected) << "\" time=\""
      << run.seconds << "\">\n";
  for (const ChapterSum& sum : SumsOf(run)) {
    const int skipped = sum.missed + sum.skipped + sum.not_run;
    out << "  <testsuite name=\"" << XmlText(sum.chapter) << "\" tests=\""
        << sum.passed + sum.bad + skipped << "\" failures=\"" << sum.bad << "\" skipped=\""
        << skipped << "\" time=\"" << sum.seconds << "\">\n";
    for (size_t i = 0; i < run.cases.size(); ++i) {
      if (run.cases[i].chapter == sum.chapter) {
        AddJunitCase(run.cases[i], run.outcomes[i], facts, out);
      }
    }
    out << "  </testsuite>\n";
  }
  out << "</testsuites>\n";
  return out.str();
}

std::string JsonReport(const Run& run, const ReportFacts& facts) {
  Json cases = Json::array();
  for (size_t i = 0; i < run.cases.size(); ++i) {
    cases.push_back(JsonOf(run.cases[i], run.outcomes[i], facts));
  }
  const Json report = {{"version", 1},
                       {"target", facts.target},
                       {"seconds", run.seconds},
                       {"interrupted", run.interrupted},
                       {"passed", run.Count(Verdict::kPassed)},
                       {"failed", run.Count(Verdict::kFailed)},
                       {"passed_unexpectedly", run.Count(Verdict::kUnexpected)},
                       {"known_misses", run.Count(Verdict::kMissed)},
                       {"skipped", run.Count(Verdict::kSkipped)},
                       {"not_run", run.Count(Verdict::kNotRun)},
                       {"cases", cases}};
  return report.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string TapReport(const Run& run, const ReportFacts&) {
  std::ostringstream out;
  out << "TAP version 13\n1.." << run.cases.size() << "\n";
  for (size_t i = 0; i < run.cases.size(); ++i) {
    const Outcome& outcome = run.outcomes[i];
    const bool fine = !IsBad(outcome.verdict) && outcome.verdict != Verdict::kMissed;
    out << (fine ? "ok " : "not ok ") << i + 1 << " - " << run.cases[i].id;
    if (outcome.verdict == Verdict::kMissed) out << " # \x54ODO " << FirstLine(outcome.why);
    if (outcome.verdict == Verdict::kSkipped) out << " # SKIP " << FirstLine(outcome.why);
    if (outcome.verdict == Verdict::kNotRun) out << " # SKIP not run";
    out << "\n";
    if (!IsBad(outcome.verdict)) continue;
    std::istringstream lines(Details(outcome));
    for (std::string line; std::getline(lines, line);) out << "# " << line << "\n";
  }
  return out.str();
}

std::string GithubReport(const Run& run, const ReportFacts& facts) {
  std::ostringstream out;
  for (size_t i = 0; i < run.cases.size(); ++i) {
    if (!IsBad(run.outcomes[i].verdict)) continue;
    const Case& one = run.cases[i];
    const size_t colon = one.place.rfind(':');
    out << "::error file=" << one.place.substr(0, colon) << ",line=" << one.place.substr(colon + 1)
        << ",title=" << one.id << "::"
        << CommandText(one.sentence + "\n" + Details(run.outcomes[i]) + "\n" + ReplayOf(one, facts))
        << "\n";
  }
  return out.str();
}

std::string MarkdownReport(const Run& run, const ReportFacts& facts) {
  std::ostringstream out;
  out << "| chapter | cases | passed | failed | known misses | skipped "
         "|\n|---|---|---|---|---|---|\n";
  for (const ChapterSum& sum : SumsOf(run)) {
    out << "| " << sum.chapter << " | "
        << sum.passed + sum.bad + sum.missed + sum.skipped + sum.not_run << " | " << sum.passed
        << " | " << sum.bad << " | " << sum.missed << " | " << sum.skipped << " |\n";
  }
  out << "\n";
  for (size_t i = 0; i < run.cases.size(); ++i) {
    if (!IsBad(run.outcomes[i].verdict)) continue;
    out << "- `" << run.cases[i].id << "`: " << run.cases[i].sentence << "\n";
  }
  out << "\nAgainst " << facts.target << ".\n";
  return out.str();
}

}  // namespace conform
