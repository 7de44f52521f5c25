// The parts that all reports share, and the report for people.

#include "conformance/report/report.h"

#include <algorithm>
#include <cstdio>
#include <sstream>

namespace conform {
namespace {

struct Paint {
  bool on;
  std::string operator()(const char* code, const std::string& text) const {
    return on ? "\033[" + std::string(code) + "m" + text + "\033[0m" : text;
  }
};

std::string Indented(const std::string& text, const std::string& margin) {
  std::istringstream lines(text);
  std::string out;
  for (std::string line; std::getline(lines, line);) out += margin + line + "\n";
  return out;
}

void AddFailure(const Case& one, const Outcome& outcome, const ReportFacts& facts,
                const Paint& paint, std::ostringstream& out) {
  out << paint("1;31", NameOf(outcome.verdict)) << " " << paint("1", one.id) << "\n";
  out << "  " << one.sentence << "\n";
  out << Indented(outcome.why, "  ");
  for (const Mismatch& mismatch : outcome.mismatches) {
    out << "    " << paint("33", mismatch.where.empty() ? "the answer" : mismatch.where) << ": "
        << mismatch.text << "\n";
  }
  if (facts.verbose) out << Indented(outcome.seen, "    | ");
  if (facts.rules) out << "  source: " << SourceOf(one, *facts.rules) << "\n";
  out << "  case:   " << one.place << "\n  again:  " << ReplayOf(one, facts) << "\n\n";
}

std::string Padded(std::string text, size_t width) {
  text.resize(std::max(width, text.size()), ' ');
  return text;
}

std::string Seconds(double seconds) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1fs", seconds);
  return text;
}

void AddCount(int count, const char* what, std::string* line) {
  if (count > 0) *line += (line->empty() ? "" : ", ") + std::to_string(count) + " " + what;
}

}  // namespace

std::string NameOf(Verdict verdict) {
  switch (verdict) {
    case Verdict::kPassed:
      return "passed";
    case Verdict::kFailed:
      return "failed";
    case Verdict::kMissed:
      return "known miss";
    case Verdict::kUnexpected:
      return "passed unexpectedly";
    case Verdict::kSkipped:
      return "skipped";
    case Verdict::kNotRun:
      return "not run";
  }
  return "";
}

bool IsBad(Verdict verdict) {
  return verdict == Verdict::kFailed || verdict == Verdict::kUnexpected;
}

std::string ReplayOf(const Case& one, const ReportFacts& facts) {
  return facts.replay + " --filter '" + one.id + "'";
}

std::vector<ChapterSum> SumsOf(const Run& run) {
  std::vector<ChapterSum> sums;
  for (size_t i = 0; i < run.cases.size(); ++i) {
    const std::string& chapter = run.cases[i].chapter;
    auto sum = std::find_if(sums.begin(), sums.end(),
                            [&](const ChapterSum& one) { return one.chapter == chapter; });
    if (sum == sums.end()) sum = sums.insert(sums.end(), ChapterSum{chapter});
    const Outcome& outcome = run.outcomes[i];
    sum->passed += outcome.verdict == Verdict::kPassed;
    sum->bad += IsBad(outcome.verdict);
    sum->missed += outcome.verdict == Verdict::kMissed;
    sum->skipped += outcome.verdict == Verdict::kSkipped;
    sum->not_run += outcome.verdict == Verdict::kNotRun;
    sum->seconds += outcome.seconds;
  }
  return sums;
}

std::string TextReport(const Run& run, const ReportFacts& facts) {
  const Paint paint{facts.colour};
  std::ostringstream out;
  for (size_t i = 0; i < run.cases.size(); ++i) {
    if (IsBad(run.outcomes[i].verdict)) {
      AddFailure(run.cases[i], run.outcomes[i], facts, paint, out);
    }
  }
  for (const ChapterSum& sum : SumsOf(run)) {
    std::string line;
    AddCount(sum.passed, "passed", &line);
    AddCount(sum.bad, "FAILED", &line);
    AddCount(sum.missed, sum.missed == 1 ? "known miss" : "known misses", &line);
    AddCount(sum.skipped, "skipped", &line);
    AddCount(sum.not_run, "not run", &line);
    out << (sum.bad ? paint("31", "x") : paint("32", "+")) << " " << Padded(sum.chapter, 22) << line
        << "\n";
  }
  for (size_t i = 0; facts.verbose && i < run.cases.size(); ++i) {
    const Verdict verdict = run.outcomes[i].verdict;
    if (verdict == Verdict::kPassed || IsBad(verdict)) continue;
    out << NameOf(verdict) << ": " << run.cases[i].id << ": " << run.outcomes[i].why << "\n";
  }
  const int bad = run.Count(Verdict::kFailed) + run.Count(Verdict::kUnexpected);
  std::string sum = std::to_string(run.cases.size()) +
                    (run.cases.size() == 1 ? " case" : " cases") + " against " + facts.target +
                    ": ";
  sum +=
      std::to_string(run.Count(Verdict::kPassed)) + " passed, " + std::to_string(bad) + " failed";
  if (const int missed = run.Count(Verdict::kMissed)) {
    sum += ", " + std::to_string(missed) + (missed == 1 ? " known miss" : " known misses");
  }
  if (const int skipped = run.Count(Verdict::kSkipped)) {
    sum += ", " + std::to_string(skipped) + " skipped";
  }
  if (const int left = run.Count(Verdict::kNotRun)) sum += ", " + std::to_string(left) + " not run";
  out << paint(bad ? "1;31" : "1;32", sum) << " in " << Seconds(run.seconds) << "\n";
  if (run.interrupted) out << "Interrupted: this report covers the cases that ran before.\n";
  return out.str();
}

// The reports for machines.

namespace {

constexpr const char* kReplacementCharacter = "\xef\xbf\xbd";  // U+FFFD

// Bytes that are not UTF-8 become U+FFFD. So do U+FFFE and U+FFFF, which no document of XML may
// have (XML 1.0, section 2.2).
std::string CharactersOfXml(const std::string& text) {
  const std::string json = Json(text).dump(-1, ' ', false, Json::error_handler_t::replace);
  std::string out = Json::parse(json).get<std::string>();
  for (const char* const none : {"\xef\xbf\xbe", "\xef\xbf\xbf"}) {
    for (size_t at = 0; (at = out.find(none, at)) != std::string::npos;) {
      out.replace(at, 3, kReplacementCharacter);
    }
  }
  return out;
}

std::string XmlText(const std::string& text) {
  std::string out;
  for (const char c : CharactersOfXml(text)) {
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
