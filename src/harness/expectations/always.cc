// Rules that must hold after every event, not only at the end: if one object exists, others must
// exist.

#include <re2/re2.h>

#include <optional>
#include <set>

#include "base/text.h"
#include "harness/expectations/counts.h"
#include "harness/expectations/expectation_texts.h"
#include "harness/faults/trigger.h"

namespace caip::harness {
namespace {

// While an object matches `if_present`, the other objects have these counts and agree in a field.
struct Rule {
  std::string if_present;                   // "*/ckpt-{s}/COMMIT"
  std::map<std::string, Count> then_count;  // "*/ckpt-{s}/shard-*" -> 4
  std::string same_field_of;                // glob of JSON objects; "": none
  std::string field;
};

constexpr std::string_view kCapture = "{s}";

// The glob as a regular expression that captures {s}.
std::string CaptureRegex(const std::string& glob) {
  std::string re;
  for (size_t i = 0; i < glob.size(); ++i) {
    if (std::string_view(glob).substr(i).starts_with(kCapture)) {
      re += "([^/]+)";
      i += kCapture.size() - 1;
    } else if (glob[i] == '*') {
      re += ".*";
    } else {
      re += re2::RE2::QuoteMeta(glob.substr(i, 1));
    }
  }
  return re;
}

std::optional<std::string> MatchCapture(const std::string& glob, const std::string& name) {
  std::string captured;
  const re2::RE2 re(CaptureRegex(glob));
  const bool captures = re.NumberOfCapturingGroups() == 1;
  const bool fits =
      captures ? re2::RE2::FullMatch(name, re, &captured) : re2::RE2::FullMatch(name, re);
  return fits ? std::optional(captured) : std::nullopt;
}

std::string FillCapture(const std::string& glob, const std::string& captured) {
  return ReplaceAll(glob, kCapture, captured);
}

std::optional<std::string> BrokenCount(const Rule& rule, const std::string& captured,
                                       const std::set<std::string>& present) {
  for (const auto& [pattern, count] : rule.then_count) {
    const std::string glob = FillCapture(pattern, captured);
    int64_t found = 0;
    for (const std::string& name : present) found += GlobMatches(glob, name) ? 1 : 0;
    if (!count.Holds(found)) return std::to_string(found) + " of " + glob;
  }
  return std::nullopt;
}

// Checked at the end, because bytes are known only then.
std::optional<std::string> BrokenField(const Rule& rule, const std::string& captured,
                                       const Evidence& run) {
  if (rule.same_field_of.empty()) return std::nullopt;
  std::set<std::string> values;
  for (const auto& [name, object] : run.objects) {
    if (!GlobMatches(FillCapture(rule.same_field_of, captured), name)) continue;
    const auto json = ParseJson(object.bytes);
    const Json* value = json.ok() ? Member(*json, rule.field) : nullptr;
    values.insert(value ? CompactJson(*value) : "none");
  }
  if (values.size() <= 1) return std::nullopt;
  return rule.field + " is " + Join({values.begin(), values.end()}, " and ") + " under " +
         FillCapture(rule.if_present, captured);
}

void ApplyToPresent(const StorageEvent& operation, std::set<std::string>& present) {
  if (operation.failed) return;
  const std::string& op = operation.op;
  const bool makes = op == "create" || op == "overwrite" || op == "copy" || op == "move" ||
                     op == "link" || op == "symlink";
  if (makes) present.insert(operation.object);
  if (op == "rename") present.insert(operation.from);
  if (op == "delete" || op == "rename") present.erase(operation.object);
  if (op == "move") present.erase(operation.from);
}

Assertion CheckRule(const Rule& rule, const ComparedRuns& runs) {
  Assertion assertion{"always " + rule.if_present, "held after every event", "held", true};
  std::set<std::string> present;
  for (const auto& [name, object] : runs.run.objects_before) present.insert(name);
  for (const Event& event : runs.run.events) {
    const auto* operation = event.As<StorageEvent>();
    if (!operation) continue;
    ApplyToPresent(*operation, present);
    for (const std::string& name : present) {
      const auto captured = MatchCapture(rule.if_present, name);
      const auto broken = captured ? BrokenCount(rule, *captured, present) : std::nullopt;
      if (!broken) continue;
      assertion.passed = false;
      assertion.found = *broken + " while " + name + " exists (event " +
                        std::to_string(event.number) + ", " + Describe(event) + ")";
      return assertion;
    }
  }
  for (const std::string& name : present) {
    const auto captured = MatchCapture(rule.if_present, name);
    const auto broken = captured ? BrokenField(rule, *captured, runs.run) : std::nullopt;
    if (!broken) continue;
    assertion.passed = false;
    assertion.found = *broken;
    return assertion;
  }
  return assertion;
}

// {s} is the one variable. A glob has it at most once, and only if it has a value.
void CheckVariables(const std::string& glob, bool is_bound, const Cursor& place) {
  static const re2::RE2 variable("(\\{[^{}]*\\})");
  re2::StringPiece rest(glob);
  std::string found;
  while (re2::RE2::FindAndConsume(&rest, variable, &found)) {
    if (found != kCapture) place.Wrong(texts::UnknownVariable(found));
    if (found == kCapture && !is_bound) place.Wrong(texts::VariableWithoutValue());
  }
}

void ValidateRule(const Rule& rule, const Cursor& cursor) {
  const size_t first = rule.if_present.find(kCapture);
  const bool is_bound = first != std::string::npos;
  if (cursor.Has("if_present")) {
    CheckVariables(rule.if_present, true, cursor.At("if_present"));
    if (is_bound && rule.if_present.find(kCapture, first + 1) != std::string::npos) {
      cursor.At("if_present").Wrong(texts::VariableTwice());
    }
  }
  for (const auto& [glob, count] : cursor.At("then_count").Members()) {
    CheckVariables(glob, is_bound, count);
  }
  if (cursor.Has("then_same_field")) {
    CheckVariables(rule.same_field_of, is_bound, cursor.At("then_same_field").At("objects"));
  }
}

Rule ReadRule(const Cursor& cursor) {
  Rule rule;
  if (!cursor.MustBeMap()) return rule;
  cursor.OnlyKeys({"if_present", "then_count", "then_same_field"});
  if (!cursor.Has("if_present")) cursor.Wrong(texts::IfPresentMissing());
  if (cursor.Has("if_present")) rule.if_present = ObjectGlob(cursor.At("if_present").Text());
  for (const auto& [glob, count] : cursor.At("then_count").Members()) {
    rule.then_count[ObjectGlob(glob)] = ReadCount(count);
  }
  if (cursor.Has("then_same_field")) {
    const Cursor same = cursor.At("then_same_field");
    same.OnlyKeys({"objects", "field"});
    rule.same_field_of = ObjectGlob(same.At("objects").Text());
    rule.field = same.At("field").Text();
  }
  ValidateRule(rule, cursor);
  if (rule.then_count.empty() && rule.same_field_of.empty()) {
    cursor.Wrong(texts::ThenMissing());
  }
  return rule;
}

}  // namespace

ExpectationPtr ReadAlways(const Cursor& cursor) {
  std::vector<Rule> rules;
  for (const Cursor& element : cursor.Elements()) rules.push_back(ReadRule(element));
  return Expect([rules](const ComparedRuns& runs) {
    std::vector<Assertion> assertions;
    for (const Rule& rule : rules) assertions.push_back(CheckRule(rule, runs));
    return assertions;
  });
}

}  // namespace caip::harness
