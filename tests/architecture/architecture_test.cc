// Tests the rules of structure: arrows between modules, sizes, banned calls, left-overs.
// A rule without a check is a wish.

#include <gtest/gtest.h>
#include <re2/re2.h>

#include <filesystem>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "tests/architecture/sources.h"

namespace caip::architecture {
namespace {

// The module a file belongs to: "ml" for src/ml/job.h, "gcs" for fakes/gcs/x.cc, "cli" for
// emulator/cli/x.cc, else the folder.
std::string ModuleOf(const std::string& name) {
  std::vector<std::string> parts;
  std::stringstream stream(name);
  for (std::string part; std::getline(stream, part, '/');) parts.push_back(part);
  const bool holds_modules = parts[0] == "src" || parts[0] == "fakes" || parts[0] == "emulator";
  if (parts.size() > 2 && holds_modules) return parts[1];
  return parts[0];
}

// The modules that each module may include. No module may include one that is missing here.
const std::map<std::string, std::set<std::string>> kAllowed = {
    {"base", {"base"}},
    {"http", {"base", "http"}},
    {"grpc", {"base", "http", "grpc"}},
    {"page", {"base", "page"}},
    {"google", {"base", "google"}},
    {"tuning", {"base", "google", "tuning"}},
    {"run", {"base", "tuning", "run"}},
    {"ml", {"base", "google", "run", "tuning", "ml"}},
    {"vertex", {"base", "google", "run", "tuning", "vertex"}},
    {"migration", {"base", "google", "run", "ml", "vertex", "tuning", "migration"}},
    {"engine", {"base", "run", "tuning", "engine"}},
    {"harness", {"base", "page", "google", "run", "ml", "vertex", "tuning", "engine", "harness"}},
    {"host", {"base", "google", "run", "http", "images", "engine/ports.h", "host"}},
    {"images", {"base", "images"}},
    {"gcs", {"base", "http", "gcs"}},
    {"logging", {"base", "http", "logging"}},
    {"registry", {"base", "http", "images", "registry"}},
    {"metadata", {"base", "http", "metadata"}},
    {"algorithms", {"base", "algorithms"}},
    {"client",
     {"base", "http", "google", "run", "ml", "host/process/child_process.h",
      "host/python/setup_script.h", "client"}},
    {"report", {"base", "page", "google", "run", "ml", "tuning", "report"}},
    {"api",
     {"base", "http", "google", "run", "ml", "vertex", "tuning", "engine", "logging", "api"}},
    {"front",
     {"base", "http", "google", "run", "ml", "engine", "metadata", "api", "host/abilities.h",
      "front"}},
    {"app",
     {"base", "http", "grpc", "google", "run", "ml", "vertex", "engine", "host", "images", "gcs",
      "logging", "registry", "metadata", "algorithms", "client", "api", "front", "app"}},
    {"scenario",
     {"base", "http", "google", "run", "ml", "engine", "harness", "host", "gcs", "client", "api",
      "app", "scenario"}},
    {"explore", {"base", "google", "harness", "host", "client", "scenario", "explore"}},
    {"check",
     {"base", "google", "run", "ml", "engine", "harness", "host", "client", "app", "scenario",
      "explore", "check"}},
    {"cli",
     {"base", "http", "google", "run", "ml", "tuning", "migration", "harness", "host", "client",
      "report", "images", "front", "app", "scenario", "explore", "check", "cli"}},
    {"emulator", {"app", "cli"}},  // main.cc
    {"conformance", {"conformance"}},
};

// "fakes/gcs/x.h" -> "gcs"; "emulator/cli/x.h" -> "cli"; "engine/ports.h" -> "engine".
std::string ModuleOfInclude(const std::string& include) {
  std::string trimmed = include;
  for (const std::string folder : {"fakes/", "emulator/"}) {
    if (include.starts_with(folder)) trimmed = include.substr(folder.size());
  }
  return trimmed.substr(0, trimmed.find('/'));
}

TEST(Architecture, IncludesFollowTheArrows) {
  const RE2 quoted(R"re(^\s*#\s*include\s*"([^"]+)")re");
  for (const SourceFile& file : SourcesBelow(kProduct)) {
    const std::string module = ModuleOf(file.name);
    const auto allowed = kAllowed.find(module);
    ASSERT_NE(allowed, kAllowed.end()) << file.name << ": module '" << module << "' has no arrows";
    for (size_t i = 0; i < file.lines.size(); ++i) {
      std::string include;
      if (!RE2::PartialMatch(file.lines[i], quoted, &include)) continue;
      EXPECT_TRUE(allowed->second.count(include) || allowed->second.count(ModuleOfInclude(include)))
          << file.name << ":" << i + 1 << ": '" << module << "' must not include " << include;
    }
  }
}

// Heavy headers stay in named places, so that a build on two cores is bearable.
TEST(Architecture, HeavyHeadersStayWhereTheyAreNamed) {
  struct Rule {
    RE2 header;
    RE2 files;
  };
  const Rule rules[] = {
      {R"(#include <boost/(beast|asio))", R"(src/http/.*\.cc|src/host/process/child_process\.cc)"
                                          R"(|conformance/wire/(wire|recorder)\.cc)"},
      {R"(#include <boost/process)", R"(src/host/process/child_process\.cc)"},
      {R"(#include <CLI/)", R"(emulator/cli/arguments/grammar\.cc|conformance/arguments\.cc)"},
      {R"(#include <nghttp2/)", R"(src/http/http2/.*)"},
      {R"(#include <google/protobuf/)", R"(src/grpc/schema\.cc)"},
      {R"(#include <sqlite3\.h>)", R"(.*\.cc)"},
  };
  for (const SourceFile& file : SourcesBelow(kProduct)) {
    for (size_t i = 0; i < file.lines.size(); ++i) {
      for (const Rule& rule : rules) {
        if (!RE2::PartialMatch(file.lines[i], rule.header)) continue;
        EXPECT_TRUE(RE2::FullMatch(file.name, rule.files))
            << file.name << ":" << i + 1 << ": " << file.lines[i] << " does not belong here";
      }
    }
  }
}

TEST(Architecture, BannedCallsHaveABetterWay) {
  struct Ban {
    RE2 call;
    RE2 except;
    const char* instead;
  };
  const Ban bans[] = {
      {R"(system_clock::now|\btime\(NULL\)|\btime\(nullptr\)|gettimeofday)",
       R"(src/base/clock\.cc)", "take a Clock&"},
      {R"(\b(rand|srand)\(|random_device|mt19937)", R"(src/base/random\.cc)", "take a Random&"},
      {R"(sleep_for|sleep_until|\busleep\(|\bnanosleep\()", R"(nothing)",
       "wait for a condition, with a deadline"},
      {R"(\bsystem\(|\bpopen\()", R"(nothing)",
       "host/process/child_process.h: RunTool, which needs no shell"},
      {R"(\bstrcpy\(|\bsprintf\(|\bgets\()", R"(nothing)", "std::string or snprintf"},
      // These print without the function that makes text safe for a terminal:
      // - caip-launcher and caip-nat only say how to start them, and the system's error;
      // - nvidia-smi runs in a replica, and writes to its log;
      // - a shell in a replica controls the terminal, as it would on a machine of the service;
      // - caip-conform includes no module of caip, and has ForPeople.
      {R"(\bv?f?printf\(|\bv?dprintf\(|\bf?puts\(|\bf?putc\(|\bputchar\(|\bfwrite\(|\bperror\()"
       R"(|std::(cout|cerr|clog)|\b(write|WriteAll)\(STD)",
       R"(src/host/(launcher|nat|devices/smi)/main\.cc|src/host/process/entered_terminal\.cc)"
       R"(|conformance/(main|arguments|report/report_files)\.cc)",
       "base/terminal_text.h: WriteText"},
  };
  for (const SourceFile& file : SourcesBelow(kProduct)) {
    for (size_t i = 0; i < file.lines.size(); ++i) {
      for (const Ban& ban : bans) {
        if (!RE2::PartialMatch(file.lines[i], ban.call)) continue;
        EXPECT_TRUE(RE2::FullMatch(file.name, ban.except))
            << file.name << ":" << i + 1 << ": " << file.lines[i] << "\n  instead: " << ban.instead;
      }
    }
  }
}

TEST(Architecture, NoLineIsLongerThanAHundredColumns) {
  for (const SourceFile& file : SourcesBelow(kEverything)) {
    for (size_t i = 0; i < file.lines.size(); ++i) {
      long columns = 0;
      for (unsigned char c : file.lines[i]) columns += (c & 0xc0) != 0x80;
      EXPECT_LE(columns, 100) << file.name << ":" << i + 1;
    }
  }
}

TEST(Architecture, NoProductFileIsLongerThanFourHundredLines) {
  for (const SourceFile& file : SourcesBelow(kProduct)) {
    EXPECT_LE(file.lines.size(), 400u) << file.name << ": is it two things?";
  }
}

// Tests may list many cases of one subject.
TEST(Architecture, NoTestFileIsLongerThanFiveHundredLines) {
  for (const SourceFile& file : SourcesBelow({"tests"})) {
    EXPECT_LE(file.lines.size(), 500u) << file.name << ": is it two things?";
  }
}

// Where a body that was opened at line `open` ends: clang-format puts its closing brace at
// `indent`.
size_t EndOfBody(const SourceFile& file, size_t open, const std::string& indent) {
  for (size_t i = open + 1; i < file.lines.size(); ++i) {
    if (file.lines[i].starts_with(indent + "}")) return i;
  }
  return file.lines.size();
}

void ExpectShort(const SourceFile& file, size_t open, size_t end) {
  EXPECT_LE(end - open, 71u) << file.name << ":" << open + 1 << ": " << file.lines[open];
}

const RE2 kNested(R"(^  (struct|class|enum)\b)");

// Members of a class whose body is the lines (open, end).
void ExpectShortMembers(const SourceFile& file, size_t open, size_t end) {
  for (size_t i = open + 1; i < end; ++i) {
    if (!file.lines[i].ends_with("{") || file.lines[i].starts_with("   ")) continue;
    const size_t member_end = EndOfBody(file, i, "  ");
    const bool nested = RE2::PartialMatch(file.lines[i], kNested);
    if (!nested) ExpectShort(file, i, member_end);
    i = member_end;
  }
}

TEST(Architecture, NoFunctionIsLongerThanSeventyLines) {
  const RE2 scope(R"(^(namespace|extern|inline namespace)\b)");
  const RE2 type(R"(^(template <.*> )?(struct|class|union)\b)");
  const RE2 data(R"(^(enum|.* = \{$|(inline |static )?(const|constexpr)\b.*[\]\w] ?\{$))");
  for (const SourceFile& file : SourcesBelow(kProduct)) {
    for (size_t i = 0; i < file.lines.size(); ++i) {
      const std::string& line = file.lines[i];
      if (!line.ends_with("{") || RE2::PartialMatch(line, scope)) continue;
      const size_t end = EndOfBody(file, i, "");
      if (RE2::PartialMatch(line, type)) {
        ExpectShortMembers(file, i, end);
      } else if (!RE2::PartialMatch(line, data)) {
        ExpectShort(file, i, end);
      }
      i = end;
    }
  }
}

TEST(Architecture, NothingIsLeftToBeDone) {
  const RE2 left_over(R"(\b(TO[D]O|FIX[M]E|XX[X]|HAC[K])\b)");  // [] so as not to find itself
  for (const SourceFile& file : SourcesBelow(kEverything)) {
    for (size_t i = 0; i < file.lines.size(); ++i) {
      EXPECT_FALSE(RE2::PartialMatch(file.lines[i], left_over))
          << file.name << ":" << i + 1 << ": " << file.lines[i];
    }
  }
}

TEST(Architecture, FilesAreNamedByTheNounTheyOwn) {
  const std::set<std::string> vague = {"utils",  "util", "helpers", "helper",
                                       "common", "misc", "manager", "stuff"};
  for (const SourceFile& file : SourcesBelow(kEverything)) {
    EXPECT_FALSE(vague.count(fs::path(file.name).stem())) << file.name;
  }
}

TEST(Architecture, EveryHeaderIsIncludedOnce) {
  for (const SourceFile& file : SourcesBelow(kEverything)) {
    if (!file.name.ends_with(".h")) continue;
    ASSERT_FALSE(file.lines.empty()) << file.name;
    EXPECT_EQ(file.lines[0], "#pragma once") << file.name;
  }
}

}  // namespace
}  // namespace caip::architecture
