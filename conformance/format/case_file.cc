
#include "conformance/format/case_file.h"

#include <algorithm>
#include <filesystem>
#include <map>

#include "conformance/format/step.h"
#include "conformance/format/substitution.h"
#include "conformance/problems.h"

namespace conform {
namespace {

namespace fs = std::filesystem;

const std::set<std::string> kCaseWords = {"id",       "sentence", "api",  "rules", "needs",
                                          "instance", "table",    "each", "given", "steps"};
const std::set<std::string> kApis = {"ml", "vertex", "any"};

// Names that have a value in every run, including settings of a target (target.h).
const std::set<std::string> kKnownNames = {
    "project", "bucket",        "region", "runtime", "python",  "package",
    "image",   "run",           "job",    "prefix",  "module",  "machine",
    "probe",   "probe_package", "id",     "number",  "executor"};

std::vector<std::string> Texts(const Json& list) {
  std::vector<std::string> texts;
  if (list.is_string()) return {list.get<std::string>()};
  for (const Json& one : list)
    texts.push_back(one.is_string() ? one.get<std::string>() : one.dump());
  return texts;
}

class FileReader {
 public:
  FileReader(const Document& document, std::string chapter, const std::set<std::string>& rule_ids)
      : document_(document), chapter_(std::move(chapter)), rule_ids_(rule_ids) {}

  Result<std::vector<Case>> Read() {
    const Json& root = document_.root();
    if (!root.is_object() || !root.contains("cases") || !root["cases"].is_array()) {
      return document_.Complain("", problems::FileWithoutCases());
    }
    for (const auto& [key, value] : root.items()) {
      if (key != "cases" && key != "defaults") {
        return document_.Complain(Below("", key),
                                  problems::WordUnknown(key, {"cases", "defaults"}));
      }
    }
    const Json defaults = root.value("defaults", Json::object());
    for (size_t i = 0; i < root["cases"].size(); ++i) {
      Json written = root["cases"][i];
      const std::string at = Below("/cases", i);
      if (!written.is_object()) return document_.Complain(at, problems::CaseNotMap());
      for (const auto& [key, value] : defaults.items()) {
        if (!written.contains(key)) written[key] = value;
      }
      if (auto problem = Expand(at, written)) return *problem;
    }
    return std::move(cases_);
  }

 private:
  std::optional<Problem> Expand(const std::string& at, const Json& written) {
    if (auto problem = CheckWords(at, written)) return problem;
    const Result<std::vector<Json>> rows = RowsOf(document_, at, written);
    if (!rows.ok()) return rows.problem();
    Json form = written;
    form.erase("table");
    form.erase("each");
    for (const Json& row : rows.value()) {
      const Json filled = Generate(Fill(form, [&](const std::string& name) -> std::optional<Json> {
        if (auto found = row.find(name); found != row.end()) return *found;
        return std::nullopt;
      }));
      if (auto problem = Add(at, filled)) return problem;
    }
    return std::nullopt;
  }

  std::optional<Problem> CheckWords(const std::string& at, const Json& written) {
    std::set<std::string> known = kCaseWords;
    known.insert(StepWords().begin(), StepWords().end());
    for (const auto& [key, value] : written.items()) {
      if (!known.contains(key)) {
        return document_.Complain(Below(at, key), problems::WordUnknown(key, known));
      }
    }
    for (const char* needed : {"id", "sentence", "rules"}) {
      if (!written.contains(needed)) return document_.Complain(at, problems::WordMissing(needed));
    }
    return std::nullopt;
  }

  std::optional<Problem> Add(const std::string& at, const Json& filled) {
    Case one;
    one.id = chapter_ + "/" + Texts(filled["id"])[0];
    one.sentence = Texts(filled["sentence"])[0];
    one.chapter = chapter_;
    one.place = document_.file() + ":" + std::to_string(document_.PlaceOf(at).line);
    one.rules = Texts(filled["rules"]);
    one.needs = Texts(filled.value("needs", Json::array()));
    one.instance = filled.value("instance", "");
    one.api = filled.value("api", "ml");
    if (!kApis.contains(one.api)) {
      return document_.Complain(Below(at, "api"), problems::WordUnknown(one.api, kApis));
    }
    if (!ids_.insert(one.id).second) {
      return document_.Complain(Below(at, "id"), problems::DuplicateId(one.id));
    }
    for (const std::string& rule : one.rules) {
      if (!rule_ids_.contains(rule)) {
        return document_.Complain(Below(at, "rules"), problems::RuleUnknown(rule));
      }
    }
    std::set<std::string> names = kKnownNames;
    if (auto problem = Steps(Below(at, "given"), filled, "given", &names, &one.given))
      return problem;
    if (auto problem = Judged(at, filled, &names, &one.steps)) return problem;
    cases_.push_back(std::move(one));
    return std::nullopt;
  }

  // The judged steps: a list, or the case itself if it is one step.
  std::optional<Problem> Judged(const std::string& at, const Json& filled,
                                std::set<std::string>* names, std::vector<Json>* steps) {
    if (filled.contains("steps")) return Steps(Below(at, "steps"), filled, "steps", names, steps);
    Json step = filled;
    for (const std::string& word : kCaseWords) step.erase(word);
    return Step(at, step, names, steps);
  }

  std::optional<Problem> Steps(const std::string& at, const Json& filled, const char* word,
                               std::set<std::string>* names, std::vector<Json>* steps) {
    const Json list = filled.value(word, Json::array());
    for (size_t i = 0; i < list.size(); ++i) {
      if (auto problem = Step(Below(at, i), list[i], names, steps)) return problem;
    }
    return std::nullopt;
  }

  std::optional<Problem> Step(const std::string& at, const Json& step, std::set<std::string>* names,
                              std::vector<Json>* steps) {
    if (auto problem = MistakeInStep(document_, at, step)) return problem;
    for (const std::string& name : NamesIn(step)) {
      if (names->contains(name) || name.starts_with("fresh") || name.find('*') != name.npos)
        continue;
      return document_.Complain(at, problems::NameUnknown(name));
    }
    const Json saved = step.value("save", Json::object());
    for (const auto& [name, pointer] : saved.items()) names->insert(name);
    steps->push_back(step);
    return std::nullopt;
  }

  const Document& document_;
  const std::string chapter_;
  const std::set<std::string>& rule_ids_;
  std::set<std::string> ids_;
  std::vector<Case> cases_;
};

std::vector<fs::path> YamlFilesBelow(const std::string& folder) {
  std::vector<fs::path> files;
  std::error_code ignored;
  for (const auto& entry : fs::recursive_directory_iterator(folder, ignored)) {
    if (entry.path().extension() == ".yaml") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace

Result<std::vector<Case>> ParseCases(const Document& document, const std::string& chapter,
                                     const std::set<std::string>& rule_ids) {
  return FileReader(document, chapter, rule_ids).Read();
}

Result<std::vector<Case>> ReadCases(const std::string& folder,
                                    const std::set<std::string>& rule_ids) {
  std::vector<Case> all;
  std::map<std::string, std::string> seen;
  for (const fs::path& file : YamlFilesBelow(folder)) {
    const Result<Document> document = Document::Read(file.string());
    if (!document.ok()) return document.problem();
    const std::string chapter = file.parent_path().filename().string();
    Result<std::vector<Case>> cases = ParseCases(document.value(), chapter, rule_ids);
    if (!cases.ok()) return cases;
    for (const Case& one : cases.value()) {
      const auto [other, fresh] = seen.try_emplace(one.id, one.place);
      if (!fresh)
        return document.value().Complain("", problems::DuplicateIdIn(one.id, other->second));
      all.push_back(one);
    }
  }
  if (all.empty()) return problems::NoCases(folder);
  return all;
}

namespace {

using Rows = std::vector<Json>;

Result<Rows> WithColumns(const Document& document, const std::string& at, const Json& table) {
  if (!table.contains("columns") || !table.contains("rows")) {
    return document.Complain(at, problems::TableWithoutRows());
  }
  const Json& columns = table["columns"];
  Rows rows;
  for (size_t i = 0; i < table["rows"].size(); ++i) {
    const Json& values = table["rows"][i];
    const std::string row_at = Below(Below(at, "rows"), i);
    if (!values.is_array() || values.size() != columns.size()) {
      return document.Complain(row_at, problems::RowLength(values.size(), columns.size()));
    }
    Json row = Json::object();
    for (size_t c = 0; c < columns.size(); ++c) row[columns[c].get<std::string>()] = values[c];
    rows.push_back(std::move(row));
  }
  return rows;
}

Result<Rows> TableRows(const Document& document, const std::string& at, const Json& table) {
  if (table.is_object()) return WithColumns(document, at, table);
  Rows rows;
  for (size_t i = 0; i < table.size(); ++i) {
    if (!table[i].is_object()) return document.Complain(Below(at, i), problems::RowNotMap());
    rows.push_back(table[i]);
  }
  return rows;
}

Rows Times(const Rows& rows, const std::string& name, const Json& values) {
  Rows product;
  for (const Json& row : rows) {
    for (const Json& value : values) {
      product.push_back(row);
      product.back()[name] = value;
    }
  }
  return product;
}

}  // namespace

Result<Rows> RowsOf(const Document& document, const std::string& pointer, const Json& written) {
  Rows rows = {Json::object()};
  if (written.contains("table")) {
    Result<Rows> table = TableRows(document, Below(pointer, "table"), written["table"]);
    if (!table.ok()) return table;
    rows = std::move(table).value();
  }
  if (!written.contains("each")) return rows;
  for (const auto& [name, values] : written["each"].items()) {
    if (!values.is_array() || values.empty()) {
      return document.Complain(Below(Below(pointer, "each"), name), problems::EachNotList(name));
    }
    rows = Times(rows, name, values);
  }
  return rows;
}

}  // namespace conform
