#include "harness/check/failure_cause.h"

#include <algorithm>
#include <set>

#include "base/text.h"
#include "harness/check/evidence_lines.h"

namespace caip::harness {
namespace {

// In the words of argparse, click, absl, getopt and fire.
bool RefusesJobDir(const std::string& line) {
  const std::string low = LowerCase(line);
  return ContainsAny(low, {"job-dir", "job_dir"}) &&
         ContainsAny(low, {"unrecognized", "unknown", "no such option", "not recognized",
                           "unexpected", "could not consume", "got unexpected"});
}

std::set<std::string> FileNamesBelow(const Path& folder) {
  std::set<std::string> names;
  std::error_code error;
  using Walk = std::filesystem::recursive_directory_iterator;
  for (Walk entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    names.insert(entry->path().filename().string());
  }
  return names;
}

// "No such file or directory: '/.../trainer/vocabulary.txt'", and the source tree has one.
bool MissesOwnFile(const std::string& line, const CheckSession& session) {
  if (!session.trainer.source || line.find("No such file or directory: '") == line.npos) {
    return false;
  }
  const size_t end = line.rfind('\'');
  const size_t slash = line.rfind('/', end);
  const size_t quote = line.rfind('\'', end - 1);
  const size_t begin = (slash == line.npos || slash < quote ? quote : slash) + 1;
  return FileNamesBelow(session.trainer.source->parent_path())
      .contains(line.substr(begin, end - begin));
}

bool IsOfPackage(const std::string& line, const CheckSession& session) {
  if (session.trainer.is_container) return false;
  return ContainsAny(line,
                     {"ModuleNotFoundError: ", "ImportError: ", "Error while finding module"}) ||
         line.find(": No module named ") != line.npos || MissesOwnFile(line, session);
}

struct ShownCause {
  FailureCause cause = FailureCause::kOther;
  std::string line = {};
};

ShownCause FindShownCause(const CheckSession& session) {
  const CheckRun& run = session.Run("plain");
  for (const std::string& line : Split(AllWords(run), '\n')) {
    if (RefusesJobDir(line)) return {FailureCause::kJobDirFlag, line};
    if (IsOfPackage(line, session)) return {FailureCause::kPackage, line};
  }
  return {};
}

}  // namespace

FailureCause FindFailureCause(const CheckSession& session) {
  if (session.Run("plain").succeeded()) return FailureCause::kNone;
  return FindShownCause(session).cause;
}

std::string FindFailureLine(const CheckSession& session) {
  return std::string(Trim(FindShownCause(session).line));
}

}  // namespace caip::harness
