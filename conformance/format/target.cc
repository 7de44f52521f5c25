#include "conformance/format/target.h"

#include "conformance/problems.h"

namespace conform {
namespace {

const std::set<std::string> kWords = {"name", "apis",         "settings",
                                      "has",  "known_misses", "instances"};
const std::set<std::string> kTargetApis = {"ml", "vertex"};

std::optional<Problem> ReadMisses(const Document& document, Target* target) {
  const Json misses = document.root().value("known_misses", Json::array());
  for (size_t i = 0; i < misses.size(); ++i) {
    const std::string at = Below("/known_misses", i);
    const Json& miss = misses[i];
    if (!miss.is_object() || !miss.contains("cases") || !miss.contains("reason")) {
      return document.Complain(at, problems::MissWithoutReason());
    }
    target->misses.push_back({miss["cases"], miss["reason"], document.PlaceOf(at).line});
  }
  return std::nullopt;
}

}  // namespace

Result<Target> ReadTarget(const std::string& file) {
  const Result<Document> document = Document::Read(file);
  if (!document.ok()) return document.problem();
  const Json& root = document.value().root();
  if (!root.is_object() || !root.contains("name")) {
    return document.value().Complain("", problems::WordMissing("name"));
  }
  for (const auto& [key, value] : root.items()) {
    if (kWords.contains(key)) continue;
    return document.value().Complain(Below("", key), problems::WordUnknown(key, kWords));
  }
  Target target;
  target.name = root["name"];
  for (const Json members = root.value("settings", Json::object());
       const auto& [name, value] : members.items()) {
    target.settings[name] = value;
  }
  for (const Json& one : root.value("has", Json::array())) target.has.insert(one);
  const Json apis = root.value("apis", Json::array({"ml"}));
  for (const Json& one : apis) {
    const std::string api = one.is_string() ? one.get<std::string>() : one.dump();
    if (!kTargetApis.contains(api)) {
      return document.value().Complain("/apis", problems::WordUnknown(api, kTargetApis));
    }
    target.apis.insert(api);
  }
  for (const Json members = root.value("instances", Json::object());
       const auto& [name, config] : members.items()) {
    target.instances[name == "main" ? "" : name] = config;
  }
  if (auto problem = ReadMisses(document.value(), &target)) return *problem;
  return target;
}

std::optional<Problem> CheckMisses(const Target& target, const std::string& file,
                                   const std::vector<Case>& cases) {
  for (const KnownMiss& miss : target.misses) {
    bool found = false;
    for (const Case& one : cases) found = found || GlobMatches(miss.cases, one.id);
    if (!found) return problems::MissMatchesNothing(file, miss.line, miss.cases);
  }
  return std::nullopt;
}

const KnownMiss* MissOf(const Target& target, const std::string& id) {
  for (const KnownMiss& miss : target.misses) {
    if (GlobMatches(miss.cases, id)) return &miss;
  }
  return nullptr;
}

bool GlobMatches(const std::string& pattern, const std::string& text) {
  size_t p = 0, t = 0, star = std::string::npos, mark = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      mark = t;
    } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == text[t])) {
      ++p;
      ++t;
    } else if (star != std::string::npos) {
      p = star + 1;
      t = ++mark;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

}  // namespace conform
