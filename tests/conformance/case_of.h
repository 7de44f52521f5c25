#pragma once
// Cases out of a text, for the tests of the judge.

#include "conformance/format/case_file.h"

namespace conform {

/// The cases of a text; rule.a and rule.b may be cited.
inline Result<std::vector<Case>> CasesOfText(const std::string& text) {
  Result<Document> document = Document::Parse("cases/x.yaml", text);
  if (!document.ok()) return document.problem();
  return ParseCases(document.value(), "chapter", {"rule.a", "rule.b"});
}

/// What is wrong with a text; "" where nothing is.
inline std::string MistakeOfText(const std::string& text) {
  const auto cases = CasesOfText(text);
  return cases.ok() ? "" : cases.problem().text;
}

}  // namespace conform
