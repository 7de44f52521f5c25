// The rules of order, as tests: folders of human size, one home for error texts, one clock.

#include <gtest/gtest.h>
#include <re2/re2.h>

#include <map>
#include <optional>
#include <string>

#include "tests/architecture/sources.h"

namespace caip::architecture {
namespace {

constexpr int kFilesOfAFolderMax = 40;
// A change may only raise it.
constexpr double kErrorsAtHomeMin = 0.98;

TEST(Rooms, NoFolderHoldsMoreThanFortyFiles) {
  std::map<std::string, int> files;
  for (const SourceFile& file : SourcesBelow(kEverything)) {
    ++files[fs::path(file.name).parent_path().string()];
  }
  for (const auto& [folder, count] : files) {
    EXPECT_LE(count, kFilesOfAFolderMax) << folder << ": divide it into rooms by subject";
  }
}

// Error{...}, FieldViolation{...} and the YAML reader's Refusal{...}, and reports of mistakes in a
// user's file with a sentence that is written in the call: `cursor.Wrong("must be above 0")`,
// `Broken("expected an element")`. A maker as argument, with words as its own arguments, is not a
// construction: `cursor.Wrong(texts::NotOneOf({"object", "posix"}))`. A SystemError always is: the
// action that failed has a maker (`CannotOpen`).
const RE2 kConstruction(
    R"re(return \{Code::k|\bError(\{| \w+\{| \w+ ?= ?\{)($|[^}])|\bFieldViolation\{($|[^}]))re"
    R"re(|\bRefusal\{\w+, [^"(]*"|\bWrong\((std::string\()?[^,"(]*")re"
    R"re(|\bSystemError\(|\bBroken\((std::string\()?"|\bBroken\(.*\? ")re");

// The line, with the next one if the arguments of a call begin there.
std::string CallAt(const SourceFile& file, size_t i) {
  const std::string line = CodeOf(file.lines[i]);
  if (!line.ends_with("Wrong(") || i + 1 == file.lines.size()) return line;
  return line + CodeOf(file.lines[i + 1]);
}

// A text that users see is found in one place, and a reviewer reads all texts of a module together.
TEST(Rooms, ErrorsAreMadeInErrorsFiles) {
  const RE2 home(R"(.*(errors|texts|violations)\.(cc|h))");
  double all = 0;
  double at_home = 0;
  std::string strays;
  for (const SourceFile& file : SourcesBelow(kProduct)) {
    for (size_t i = 0; i < file.lines.size(); ++i) {
      if (!RE2::PartialMatch(CallAt(file, i), kConstruction)) continue;
      ++all;
      if (RE2::FullMatch(file.name, home)) {
        ++at_home;
      } else {
        strays += "\n  " + file.name + ":" + std::to_string(i + 1);
      }
    }
  }
  ASSERT_GT(all, 0);
  EXPECT_GE(at_home / all, kErrorsAtHomeMin)
      << at_home << " of " << all << " are at home; not these:" << strays;
}

TEST(Rooms, TheReasonOfAnErrorIsComparedButNeverParsed) {
  const RE2 parsing(R"(\breason\.(starts_with|ends_with|find\w*|substr)\()");
  for (const SourceFile& file : SourcesBelow(kProduct)) {
    for (size_t i = 0; i < file.lines.size(); ++i) {
      EXPECT_FALSE(RE2::PartialMatch(CodeOf(file.lines[i]), parsing))
          << file.name << ":" << i + 1 << ": a typed member of Error holds facts";
    }
  }
}

TEST(Rooms, TheMonotonicClockIsReadInOnePlace) {
  const RE2 call(R"(\bsteady_clock\b|CLOCK_MONOTONIC)");
  const RE2 except(R"(src/base/clock\.(h|cc)|src/host/(launcher|nat)/.*|conformance/.*)");
  for (const SourceFile& file : SourcesBelow(kProduct)) {
    for (size_t i = 0; i < file.lines.size(); ++i) {
      if (!RE2::PartialMatch(CodeOf(file.lines[i]), call)) continue;
      EXPECT_TRUE(RE2::FullMatch(file.name, except))
          << file.name << ":" << i + 1 << ": instead: MonotonicNow() or Stopwatch of "
          << "base/clock.h";
    }
  }
}

TEST(Rooms, TheHeaderOfTheCommandLineParserIsInOneFile) {
  int files = 0;
  for (const SourceFile& file : SourcesBelow({"src", "fakes", "emulator"})) {
    for (const std::string& line : file.lines) files += line.starts_with("#include <CLI/");
  }
  EXPECT_EQ(files, 1);
}

struct Function {
  std::string signature;
  int lines = 0;  // between the opening brace and the closing one, which is in column 0
};

// The function whose definition begins in this line, if one does.
std::optional<Function> FunctionAt(const SourceFile& file, size_t first) {
  Function function;
  size_t i = first;
  for (; i < file.lines.size(); ++i) {
    function.signature += file.lines[i] + "\n";
    if (file.lines[i].find_first_of("{;") != std::string::npos) break;
  }
  if (i == file.lines.size() || !file.lines[i].ends_with('{')) return std::nullopt;
  while (++i < file.lines.size() && !file.lines[i].starts_with('}')) ++function.lines;
  return function;
}

// A handler reads a request, calls the service and renders the answer. Rules belong to the service.
TEST(Rooms, HandlersOfRequestsHaveAtMostFifteenLines) {
  const RE2 begin(R"(^(Result<Json>|Result<(http::)?Response>|(http::)?Response) [\w:]+\()");
  const RE2 parameter(R"(\b(Request|XmlCall)& \w)");
  int handlers = 0;
  for (const SourceFile& file : SourcesBelow({"emulator/api", "fakes"})) {
    for (size_t i = 0; i < file.lines.size(); ++i) {
      if (!RE2::PartialMatch(file.lines[i], begin)) continue;
      const auto function = FunctionAt(file, i);
      if (!function || !RE2::PartialMatch(function->signature, parameter)) continue;
      ++handlers;
      EXPECT_LE(function->lines, 15)
          << file.name << ":" << i + 1 << ": move its rules to the service";
    }
  }
  EXPECT_GT(handlers, 100);  // else the expressions above no longer find them
}

}  // namespace
}  // namespace caip::architecture
