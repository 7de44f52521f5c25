#include "conformance/problems.h"

#include <algorithm>
#include <cctype>
#include <vector>

namespace conform::problems {
namespace {

std::string Quoted(const std::string& text) { return "'" + text + "'"; }

// The start of an answer, on one line.
std::string Start(const std::string& body) {
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
std::string KeyTwice(const std::string& key) { return Quoted(key) + " occurs twice"; }

std::string FileWithoutCases() { return "a case file is a map with a list `cases`"; }
std::string CaseNoMap() { return "a case is a map with id, sentence and rules"; }

std::string WordUnknown(const std::string& word, const std::set<std::string>& known) {
  std::string nearest;
  for (const std::string& one : known) {
    if (nearest.empty() || Distance(word, one) < Distance(word, nearest)) nearest = one;
  }
  std::string text = "unknown word " + Quoted(word);
  if (Distance(word, nearest) <= 2) return text + "; is it " + Quoted(nearest) + "?";
  text += "; known are";
  for (const std::string& one : known) text += " " + one;
  return text;
}

std::string WordMissing(const std::string& word) { return Quoted(word) + " is missing"; }
std::string StepWithoutKind() {
  return "a step has one of the words call, create, await, run, command";
}
std::string NoBase64() { return "this is no base64"; }
std::string ExpectationUnknown(const std::string& word) {
  return "`expect` is a map, or `accepted`; not " + Quoted(word);
}
std::string MatcherUnknown(const std::string& name) {
  return "unknown matcher " + Quoted(name) +
         "; known are $any $absent $absolute $contains $matches $one_of $not $all $exactly $each "
         "$length $json $in_order $unordered $at_least";
}
std::string MatcherWantsList(const std::string& name) { return name + " takes a list"; }
std::string MatcherWantsText(const std::string& name) { return name + " takes a text"; }
std::string MatcherBesideOthers(const std::string& name) {
  return "the matcher " + name + " must stand alone in its map";
}
std::string RegexBroken(const std::string& pattern, const std::string& why) {
  return "/" + pattern + "/ is no regular expression: " + why;
}
std::string TableWithoutRows() { return "a table is {columns, rows}, or a list of maps"; }
std::string RowLength(size_t got, size_t wanted) {
  return "this row has " + std::to_string(got) + " values for " + std::to_string(wanted) +
         " columns";
}
std::string RowNoMap() { return "a row without columns is a map of name to value"; }
std::string EachNoList(const std::string& name) {
  return Quoted(name) + " needs a list of values, at least one";
}
std::string IdTwice(const std::string& id) { return "the id " + Quoted(id) + " occurs twice"; }
std::string IdTwiceIn(const std::string& id, const std::string& other) {
  return "the id " + Quoted(id) + " occurs at " + other + " too";
}
std::string RuleUnknown(const std::string& rule) {
  return "no rule has the id " + Quoted(rule) + " (conformance/rules)";
}
std::string NameUnknown(const std::string& name) {
  return "${" + name + "} is no column, setting, or name saved before";
}
Problem NoCases(const std::string& folder) { return {folder + ": no case files below"}; }

std::string RulesWithoutPage() { return "a rules file is {page, sections: {section: {id: rule}}}"; }
std::string RuleNoSentence() { return "a rule is a sentence, or {rule, uncovered: why}"; }
Problem NoRules(const std::string& folder) { return {folder + ": no rules below"}; }
std::string MissWithoutReason() { return "a known miss is {cases: GLOB, reason: TEXT}"; }
Problem MissNamesNothing(const std::string& file, int line, const std::string& glob) {
  return {file + ":" + std::to_string(line) + ": no case has an id like " + Quoted(glob) +
          "; `--list` tells them all"};
}

Problem NoUrl(const std::string& text) {
  return {Quoted(text) + " is no endpoint; it looks like http://127.0.0.1:2247 or https://HOST"};
}
Problem Silent(const std::string& where, const std::string& what, long milliseconds) {
  return {where + ": " + what + " took longer than " + std::to_string(milliseconds) +
          " ms (--timeout)"};
}
Problem BodyEndless(const std::string& where, size_t max) {
  return {where + ": an answer did not end within " + std::to_string(max >> 20) + " MiB"};
}
Problem HungUp(const std::string& where, const std::string& what) {
  return {where + ": the connection was closed before " + what + " was there"};
}
Problem WireFailed(const std::string& where, const std::string& what, const std::string& why) {
  return {where + ": " + what + ": " + why};
}
Problem CertificateNotBelieved(const std::string& name, const std::string& why) {
  return {"the certificate of " + name + " cannot be believed: " + why +
          ". --ca-file FILE names who may sign it; --insecure believes any."};
}
Problem AuthorityUnreadable(const std::string& file, const std::string& why) {
  return {"the certificate authorities " + (file.empty() ? "of the system" : file) +
          " cannot be read: " + why};
}
Problem NotTheService(const std::string& where, int status, const std::string& body) {
  return {where + " does not speak like AI Platform Training: asked for jobs, it answers " +
          std::to_string(status) + " with " + Quoted(Start(body))};
}
Problem NotLetIn(const std::string& where, int status, const std::string& body) {
  return {where + " does not let us in (" + std::to_string(status) +
          "; --token-file, --project): " + Start(body)};
}
Problem PackageNotSent(const std::string& bucket, int status, const std::string& body) {
  return {"the probe's package cannot be put into gs://" + bucket +
          " (--bucket): " + std::to_string(status) + " " + Start(body)};
}
Problem EmulatorNotStarted(const std::string& program, const std::string& log) {
  return {program + " serve did not start (--caip):\n" + log};
}
Problem CannotListen(const std::string& why) {
  return {"the recording endpoint cannot listen on 127.0.0.1: " + why};
}

std::string Differs(const std::string& expected, const std::string& actual) {
  return "expected " + expected + ", was " + actual;
}
Problem NameWithoutValue(const std::string& name) {
  return {"there is no value for ${" + name + "}"};
}
Problem JobUnknown(const std::string& name) {
  return {"conformance/jobs.yaml has no job " + Quoted(name)};
}
Problem JobPathBroken(const std::string& why) { return {"a path of `set` cannot be: " + why}; }
Problem JobNotThere(const std::string& id, int status) {
  return {"asked for job " + id + ", the endpoint answered " + std::to_string(status)};
}
Problem JobNotInTime(const std::string& id, const std::string& state, const std::string& wanted,
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
  return {"the job was refused with " + std::to_string(status) + ": " + Start(body)};
}
Problem LogsNotThere(int status) { return {"entries:list answered " + std::to_string(status)}; }
Problem ProgramNotStarted(const std::string& program, const std::string& why) {
  return {Quoted(program) + " cannot be run: " + why};
}
Problem CommandLate(const std::string& program) {
  return {Quoted(program) + " did not end in time (--job-timeout)"};
}
std::string StepNotMet(const std::string& kind) {
  if (kind == "call" || kind == "create") return "the answer is not as the rule has it";
  if (kind == "command") return "what the command did is not as the rule has it";
  return "what came of the job is not as the rule has it";
}
std::string GivenNotMet(const std::string& why) { return "what is given could not be had: " + why; }
std::string NothingToSave(const std::string& name, const std::string& pointer) {
  return "the answer has no " + pointer + " to be kept as ${" + name + "}";
}
std::string ShapeUnforeseen(const std::string& why) {
  return "the answer has a shape that nobody foresaw: " + why;
}
std::string NeedMissing(const std::string& need) {
  return "the target has no " + Quoted(need) + " (its file's `has` or `settings`, or --set)";
}
std::string PassedThoughListed(int line, const std::string& reason) {
  return "it passes, and line " + std::to_string(line) + " of the target file lists it: " + reason;
}

std::string NoCaseChosen() { return "no case is left by --filter, --chapter and --shard"; }
std::string CommandWanted() {
  return "--endpoint none judges commands only; give --submit-command or --train-command";
}
std::string ShardBroken(const std::string& text) {
  return Quoted(text) + " is no shard; it looks like 2/5";
}
std::string SettingBroken(const std::string& text) {
  return Quoted(text) + " is no setting; it looks like region=us-east1";
}

}  // namespace conform::problems
