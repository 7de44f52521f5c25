#include "conformance/format/rule_book.h"

#include <algorithm>
#include <filesystem>
#include <sstream>

#include "conformance/format/document.h"
#include "conformance/problems.h"

namespace conform {
namespace {

namespace fs = std::filesystem;

// A rules file is {page, sections: {"7.1 Job id": {id: sentence, id: {rule, uncovered}}}}.
std::optional<Problem> ReadPage(const Document& document, RuleBook* rules) {
  const Json& root = document.root();
  if (!root.is_object() || !root.contains("page") || !root.contains("sections")) {
    return document.Complain("", problems::RulesWithoutPage());
  }
  const std::string page = root["page"];
  for (const auto& [section, entries] : root["sections"].items()) {
    for (const auto& [id, entry] : entries.items()) {
      const std::string at = Below(Below("/sections", section), id);
      Rule rule{id, page, section, "", ""};
      if (entry.is_string()) {
        rule.sentence = entry;
      } else if (entry.is_object() && entry.contains("rule") && entry.contains("uncovered")) {
        rule.sentence = entry["rule"];
        rule.uncovered = entry["uncovered"];
      } else {
        return document.Complain(at, problems::RuleNotSentence());
      }
      if (!rules->try_emplace(id, rule).second)
        return document.Complain(at, problems::DuplicateId(id));
    }
  }
  return std::nullopt;
}

}  // namespace

Result<RuleBook> ReadRules(const std::string& folder) {
  std::vector<fs::path> files;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored)) {
    if (entry.path().extension() == ".yaml") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  RuleBook rules;
  for (const fs::path& file : files) {
    const Result<Document> document = Document::Read(file.string());
    if (!document.ok()) return document.problem();
    if (auto problem = ReadPage(document.value(), &rules)) return *problem;
  }
  if (rules.empty()) return problems::NoRules(folder);
  return rules;
}

std::set<std::string> IdsOf(const RuleBook& rules) {
  std::set<std::string> ids;
  for (const auto& [id, rule] : rules) ids.insert(id);
  return ids;
}

std::string SourceOf(const Case& one, const RuleBook& rules) {
  std::string source;
  for (const std::string& id : one.rules) {
    const auto rule = rules.find(id);
    if (rule == rules.end()) continue;
    if (!source.empty()) source += "; ";
    source += rule->second.page + ", section " + rule->second.section;
  }
  return source;
}

Coverage CoverageOf(const RuleBook& rules, const std::vector<Case>& cases) {
  Coverage coverage;
  for (const Case& one : cases) {
    for (const std::string& rule : one.rules) ++coverage.cases[rule];
  }
  for (const auto& [id, rule] : rules) {
    const bool cited = coverage.cases.contains(id);
    if (cited && !rule.uncovered.empty()) coverage.stale.push_back(id);
    if (cited) continue;
    (rule.uncovered.empty() ? coverage.uncovered : coverage.excused).push_back(id);
  }
  return coverage;
}

std::string CoverageText(const RuleBook& rules, const Coverage& coverage) {
  std::ostringstream text;
  std::map<std::string, std::pair<int, int>> pages;  // rules, cited
  for (const auto& [id, rule] : rules) {
    ++pages[rule.page].first;
    pages[rule.page].second += coverage.cases.contains(id);
  }
  for (const auto& [page, counts] : pages) {
    text << page << ": " << counts.second << " of " << counts.first << " rules are cited\n";
  }
  for (const std::string& id : coverage.excused) {
    text << "not judged: " << id << " (" << rules.at(id).uncovered << ")\n";
  }
  for (const std::string& id : coverage.uncovered) {
    const Rule& rule = rules.at(id);
    text << "UNCOVERED: " << id << " (" << rule.page << ", section " << rule.section
         << "): " << rule.sentence << "\n";
  }
  for (const std::string& id : coverage.stale) {
    text << "STALE: " << id << " is cited, and its `uncovered` says that it cannot be tested\n";
  }
  return text.str();
}

}  // namespace conform
