#pragma once
// A case (requests to an endpoint and the required results), and the files that cases are read
// from.

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "conformance/format/document.h"
#include "conformance/json_fwd.h"
#include "conformance/result.h"

namespace conform {

/// One case, with the values of its table. case_file reads it; case_run runs it.
struct Case {
  std::string id;                  // "job-ids/may-not-start-with-9"; unique
  std::string sentence;            // the promise of the service; the name of the test
  std::string chapter;             // its folder
  std::string place;               // "conformance/cases/job-ids/letters.yaml:12"
  std::string api;                 // "ml", "vertex", or "any" if it is about neither
  std::vector<std::string> rules;  // ids of the rules it judges; never empty
  std::vector<std::string> needs;  // the features that a target must have, such as "containers"
  std::string instance;            // "held": the endpoint whose queue is stopped, if any
  std::vector<Json> given;         // steps that must succeed before the judged ones
  std::vector<Json> steps;         // steps that are judged
};

// Reads case files: YAML below cases/<chapter>/, in the format of README.md. A mistake is a problem
// with file, line and caret; then no case runs.

/// The cases of one file, with expanded tables. `rule_ids` are the rules that may be cited.
Result<std::vector<Case>> ParseCases(const Document& document, const std::string& chapter,
                                     const std::set<std::string>& rule_ids);

/// All cases below a folder, sorted by chapter, file and line.
Result<std::vector<Case>> ReadCases(const std::string& folder,
                                    const std::set<std::string>& rule_ids);

/// The rows of `table` and `each` in a written case, as maps of name to value. One empty row if it
/// has neither. `table` is {columns, rows} or a list of maps; `each` is a map of lists, which gives
/// all combinations.
Result<std::vector<Json>> RowsOf(const Document& document, const std::string& pointer,
                                 const Json& written);

}  // namespace conform
