
#include "conformance/format/step.h"

#include <map>
#include <string_view>

#include "conformance/format/matcher.h"
#include "conformance/problems.h"

namespace conform {
namespace {

// The words that every step may have, and those of each kind.
const std::set<std::string> kShared = {"expect", "save", "within"};
const std::map<std::string, std::set<std::string>> kKinds = {
    {"call", {"call", "query", "headers", "body", "text", "base64", "service", "project", "token"}},
    {"create", {"create", "project", "location", "version", "query", "do"}},
    {"await", {"await", "job", "logs"}},
    {"run", {"run", "project", "location", "version", "query", "do"}},
    {"command", {"command", "words", "files", "environment", "reply"}},
};

Json Refusal(const Json& form) {
  const int code = form.value("code", 400);
  const Json field = form.at("refused");
  Json error = {{"code", code}, {"status", form.value("status", "INVALID_ARGUMENT")}};
  if (!field.is_null()) {
    Json violation = {{"field", field}};
    if (form.contains("because")) violation["description"] = form["because"];
    error["details"] = {{"$contains", {{"fieldViolations", {{"$contains", violation}}}}}};
  }
  if (form.contains("message")) error["message"] = form["message"];
  return {{"status", code}, {"body", {{"error", error}}}};
}

// A character of a regular expression stands for itself; ${name} is filled in later.
std::string Escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (std::string_view("\\.[]()*+?^|").find(c) != std::string_view::npos) out += '\\';
    out += c;
  }
  return out;
}

// "1.Field: F; Message: M\t", with any M if `finding` has none.
std::string FindingPattern(size_t number, const Json& finding) {
  const std::string field = finding.is_string() ? finding : finding.at("found");
  const std::string why = finding.is_object() ? finding.value("because", "") : "";
  return std::to_string(number) + "\\.Field: " + Escaped(field) +
         "; Message: " + (why.empty() ? "[^\t]+" : Escaped(why)) + "\t";
}

// Vertex AI lists all violations in one message, and no others (docs/service/vertex.md, section 4).
Json ListOfFindings(const Json& form) {
  const Json& found = form.at("found");
  std::string pattern = "List of found errors:\t";
  if (found.is_array()) {
    for (size_t i = 0; i < found.size(); ++i) pattern += FindingPattern(i + 1, found[i]);
  } else {
    pattern += FindingPattern(1, form);
  }
  const Json message = {{"$matches", pattern}};
  return {
      {"status", 400},
      {"body", {{"error", {{"code", 400}, {"status", "INVALID_ARGUMENT"}, {"message", message}}}}}};
}

bool IsListOfFindings(const Json& expect) { return expect.is_object() && expect.contains("found"); }
bool IsRefusal(const Json& expect) { return expect.is_object() && expect.contains("refused"); }

std::optional<Problem> MistakeInRefusal(const Document& document, const std::string& pointer,
                                        const Json& expect) {
  static const std::set<std::string> kRefusal = {"refused", "code", "status", "because", "message"};
  static const std::set<std::string> kFindings = {"found", "because"};
  const std::set<std::string>& words = IsRefusal(expect) ? kRefusal : kFindings;
  for (const auto& [key, value] : expect.items()) {
    if (!words.contains(key)) {
      return document.Complain(Below(pointer, key), problems::WordUnknown(key, words));
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> KindOf(const Json& step) {
  for (const auto& [kind, words] : kKinds) {
    if (step.is_object() && step.contains(kind)) return kind;
  }
  return std::nullopt;
}

const std::set<std::string>& StepWords() {
  static const std::set<std::string> kWords = [] {
    std::set<std::string> words = kShared;
    for (const auto& [kind, own] : kKinds) words.insert(own.begin(), own.end());
    return words;
  }();
  return kWords;
}

std::optional<Problem> MistakeInStep(const Document& document, const std::string& pointer,
                                     const Json& step) {
  const auto kind = KindOf(step);
  if (!kind) return document.Complain(pointer, problems::StepWithoutKind());
  std::set<std::string> known = kKinds.at(*kind);
  known.insert(kShared.begin(), kShared.end());
  for (const auto& [key, value] : step.items()) {
    if (!known.contains(key)) {
      return document.Complain(Below(pointer, key), problems::WordUnknown(key, known));
    }
  }
  if (step.contains("base64") && !FromBase64(step["base64"])) {
    return document.Complain(Below(pointer, "base64"), problems::Base64Invalid());
  }
  if (!step.contains("expect")) return std::nullopt;
  const Json& expect = step["expect"];
  const std::string at = Below(pointer, "expect");
  if (IsRefusal(expect) || IsListOfFindings(expect)) {
    return MistakeInRefusal(document, at, expect);
  }
  if (expect.is_string() && expect != "accepted") {
    return document.Complain(at, problems::ExpectationUnknown(expect.get<std::string>()));
  }
  if (auto mistake = FindMistake(expect)) return document.Complain(at, *mistake);
  return std::nullopt;
}

Json ExpectationOf(const Json& step) {
  const Json expect = step.value("expect", Json("done"));
  if (expect == "accepted") return {{"status", 200}};
  if (expect == "done") return KindOf(step) == "call" ? Json{{"status", 200}} : Json::object();
  if (IsListOfFindings(expect)) return ListOfFindings(expect);
  return IsRefusal(expect) ? Refusal(expect) : expect;
}

namespace {

constexpr std::string_view kBase64Letters =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

}  // namespace

std::optional<std::string> FromBase64(const std::string& text) {
  if (text.size() % 4 != 0) return std::nullopt;
  const size_t end = text.find_last_not_of('=') + 1;
  if (text.size() - end > 2) return std::nullopt;
  std::string bytes;
  unsigned bits = 0;
  for (size_t i = 0; i < end; ++i) {
    const size_t value = kBase64Letters.find(text[i]);
    if (value == std::string_view::npos) return std::nullopt;
    bits = bits << 6 | static_cast<unsigned>(value);
    if (i % 4 != 0) bytes += static_cast<char>(bits >> (6 - 2 * (i % 4)) & 0xFF);
  }
  return bytes;
}

}  // namespace conform
