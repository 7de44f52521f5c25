#include "conformance/problems.h"

#include <algorithm>
#include <cctype>
#include <vector>

namespace conform::problems {
namespace {

std::string Quoted(const std::string& text) { return "'" + text + "'"; }

// The first 200 bytes of an answer, on one line.
std::string StartOfAnswer(const std::string& body) {
  std::string start = body.substr(0, 200);
  for (char& c : start) {
    if (std::iscntrl(static_cast<unsigned char>(c))) c = ' ';
  }
  return start + (body.size() > 200 ? "..." : "");
}

size_t Distance(const std::string& a, const std::string& b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t corner = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t above = row[j];
      row[j] = std::min({above + 1, row[j - 1] + 1, corner + (a[i - 1] != b[j - 1])});
      corner = above;
    }
  }
  return row[b.size()];
}

}  // namespace

Problem AtPlace(const std::string& file, int line, int column, const std::string& message,
                const std::string& text) {
  std::string margin;
  for (int i = 0; i + 1 < column; ++i) {
    margin +=
        i < static_cast<int>(text.size()) && text[static_cast<size_t>(i)] == '\t' ? '\t' : ' ';
  }
  return {file + ":" + std::to_string(line) + ":" + std::to_string(column) + ": " + message + "\n" +
          text + "\n" + margin + "^"};
}

Problem FileUnreadable(const std::string& file) { return {file + ": cannot be read"}; }
Problem FileUnwritable(const std::string& file) { return {file + ": cannot be written"}; }
Problem ReportUnwritable(const std::string& option, const std::string& file) {
  return {option + ": " + FileUnwritable(file).text};
}
Problem ReportsPrinted(const std::string& first, const std::string& second) {
  return {first + " and " + second +
          " cannot both print their report. Give the path of a file to one of them."};
}
std::string DuplicateKey(const std::string& key) { return Quoted(key) + " occurs twice"; }

std::string FileWithoutCases() { return "a case file must be a map with a list `cases`"; }
std::string CaseNotMap() { return "a case must be a map with id, sentence and rules"; }

std::string WordUnknown(const std::string& word, const std::set<std::string>& known) {
  std::string nearest;
  for (const std::string& one : known) {
    if (nearest.empty() || Distance(word, one) < Distance(word, nearest)) nearest = one;
  }
  std::string text = "unknown word " + Quoted(word);
  if (Distance(word, nearest) <= 2) return text + "; did you mean " + Quoted(nearest) + "?";
  text += "; known words:";
  for (const std::string& one : known) text += " " + one;
  return text;
}

std::string WordMissing(const std::string& word) { return Quoted(word) + " is missing"; }
std::string StepWithoutKind() {
  return "a step must have one of the words call, create, await, run, command";
}
std::string Base64Invalid() { return "this is not valid base64"; }
std::string ExpectationUnknown(const std::string& word) {
  return "`expect` must be a map or `accepted`, not " + Quoted(word);
}
std::string MatcherUnknown(const std::string& name) {
  return "unknown matcher " + Quoted(name) +
         "; known matchers: $any $absent $absolute $contains $matches $one_of $not $all $exactly "
         "$each "
         "$length $json $in_order $unordered $at_least";
}
std::string MatcherRequiresList(const std::string& name) { return name + " requires a list"; }
std::string MatcherRequiresText(const std::string& name) { return name + " requires a text"; }
std::string MatcherNotAlone(const std::string& name) {
  return "the matcher " + name + " must be the only key of its map";
}
std::string RegexBroken(const std::string& pattern, const std::string& why) {
  return "/" + pattern + "/ is not a valid regular expression: " + why;
}
std::string TableWithoutRows() { return "a table must be {columns, rows} or a list of maps"; }
std::string RowLength(size_t got, size_t wanted) {
  return "this row has " + std::to_string(got) + " values for " + std::to_string(wanted) +
         " columns";
}
std::string RowNotMap() {
  return "a row of a table without columns must be a map of name to value";
}
std::string EachNotList(const std::string& name) {
  return Quoted(name) + " requires a list with at least one value";
}
std::string DuplicateId(const std::string& id) { return "the id " + Quoted(id) + " occurs twice"; }
std::string DuplicateIdIn(const std::string& id, const std::string& other) {
  return "the id " + Quoted(id) + " also occurs at " + other;
}
std::string RuleUnknown(const std::string& rule) {
  return "no rule has the id " + Quoted(rule) + " (conformance/rules)";
}
std::string NameUnknown(const std::string& name) {
  return "${" + name + "} is not a column, a setting, or a name saved before";
}
Problem NoCases(const std::string& folder) { return {folder + ": this folder has no case files"}; }

std::string RulesWithoutPage() {
  return "a rules file must be {page, sections: {section: {id: rule}}}";
}
std::string RuleNotSentence() { return "a rule must be a sentence, or {rule, uncovered: why}"; }
Problem NoRules(const std::string& folder) { return {folder + ": this folder has no rules"}; }
std::string MissWithoutReason() { return "a known miss must be {cases: GLOB, reason: TEXT}"; }
Problem MissMatchesNothing(const std::string& file, int line, const std::string& glob) {
  return {file + ":" + std::to_string(line) + ": no case id matches " + Quoted(glob) +
          "; `--list` shows all ids"};
}

Problem UrlInvalid(const std::string& text) {
  return {Quoted(text) +
          " is not a valid endpoint. Write it as http://127.0.0.1:2247 or https://HOST"};
}
Problem AnswerTimeout(const std::string& where, const std::string& what, long milliseconds) {
  return {where + ": " + what + " took longer than " + std::to_string(milliseconds) +
          " ms (--timeout)"};
}
Problem AnswerTooLong(const std::string& where, size_t max) {
  return {where + ": an answer is longer than " + std::to_string(max >> 20) + " MiB"};
}
Problem ConnectionClosed(const std::string& where, const std::string& what) {
  return {where + ": the connection was closed before " + what + " arrived"};
}
Problem WireFailed(const std::string& where, const std::string& what, const std::string& why) {
  return {where + ": " + what + ": " + why};
}
Problem CertificateNotTrusted(const std::string& name, const std::string& why) {
  return {"the certificate of " + name + " is not trusted: " + why +
          ". Name its authorities with --ca-file FILE, or accept any certificate with --insecure."};
}
Problem AuthorityUnreadable(const std::string& file, const std::string& why) {
  return {"the certificate authorities " + (file.empty() ? "of the system" : file) +
          " cannot be read: " + why};
}
Problem NotTheService(const std::string& where, bool is_vertex, int status,
                      const std::string& body) {
  const std::string name = is_vertex ? "Vertex AI" : "AI Platform Training";
  return {where + " is not " + name + ": a request for jobs was answered with " +
          std::to_string(status) + " and " + Quoted(StartOfAnswer(body))};
}
Problem AccessRefused(const std::string& where, int status, const std::string& body) {
  return {where + " refuses access (" + std::to_string(status) +
          "; see --token-file, --project): " + StartOfAnswer(body)};
}
Problem PackageNotUploaded(const std::string& bucket, int status, const std::string& body) {
  return {"the probe's package cannot be put into gs://" + bucket +
          " (--bucket): " + std::to_string(status) + " " + StartOfAnswer(body)};
}
Problem EmulatorNotStarted(const std::string& program, const std::string& log) {
  return {program + " serve did not start (see --caip):\n" + log};
}
Problem CannotListen(const std::string& why) {
  return {"the recording endpoint cannot listen on 127.0.0.1: " + why};
}

std::string Differs(const std::string& expected, const std::string& actual) {
  return "expected " + expected + ", got " + actual;
}
Problem NameWithoutValue(const std::string& name) { return {"${" + name + "} has no value"}; }
Problem JobUnknown(const std::string& name) {
  return {"conformance/jobs.yaml has no job " + Quoted(name)};
}
Problem JobPathBroken(const std::string& why) { return {"a path of `set` is not valid: " + why}; }
Problem JobNotReadable(const std::string& id, int status) {
  return {"a request for job " + id + " was answered with " + std::to_string(status)};
}
Problem JobTimeout(const std::string& id, const std::string& state, const std::string& wanted,
                   long milliseconds) {
  return {"job " + id + " was still " + state + ", not " + wanted + ", after " +
          std::to_string(milliseconds) + " ms (--job-timeout)"};
}
Problem JobEndedOtherwise(const std::string& id, const std::string& state,
                          const std::string& wanted, const std::string& message) {
  return {"job " + id + " ended " + state + ", not " + wanted +
          (message.empty() ? "" : ": " + message)};
}
Problem JobRefused(int status, const std::string& body) {
  return {"the job was refused with " + std::to_string(status) + ": " + StartOfAnswer(body)};
}
Problem LogsNotReadable(int status) { return {"entries:list answered " + std::to_string(status)}; }
Problem ProgramNotStarted(const std::string& program, const std::string& why) {
  return {Quoted(program) + " cannot be run: " + why};
}
Problem CommandTimeout(const std::string& program) {
  return {Quoted(program) + " did not end in time (--job-timeout)"};
}
std::string StepNotMet(const std::string& kind) {
  if (kind == "call" || kind == "create") return "the answer breaks the rule";
  if (kind == "command") return "the command breaks the rule";
  return "the job breaks the rule";
}
std::string GivenNotMet(const std::string& why) { return "a given step failed: " + why; }
std::string NothingToSave(const std::string& name, const std::string& pointer) {
  return "the answer has no " + pointer + " to save as ${" + name + "}";
}
std::string AnswerUnexpected(const std::string& why) {
  return "the answer has an unexpected form: " + why;
}
std::string NeedMissing(const std::string& need) {
  return "the target has no " + Quoted(need) + " (see `has` and `settings` in its file, or --set)";
}
std::string PassedAlthoughListed(int line, const std::string& reason) {
  return "it passes, although line " + std::to_string(line) +
         " of the target file lists it: " + reason;
}

std::string NoCaseChosen() { return "--filter, --chapter and --shard select no case"; }
std::string CommandMissing() {
  return "--endpoint none judges only commands; add --submit-command or --train-command";
}
std::string ShardBroken(const std::string& text) {
  return Quoted(text) + " is not a valid shard. Write it as 2/5";
}
std::string SettingBroken(const std::string& text) {
  return Quoted(text) + " is not a valid setting. Write it as region=us-east1";
}

}  // namespace conform::problems
