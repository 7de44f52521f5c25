#include "harness/check/failure_cause.h"

#include <algorithm>
#include <set>

#include "base/text.h"
#include "harness/check/evidence_lines.h"

namespace caip::harness {
namespace {

bool HoldsAny(const std::string& text, std::initializer_list<const char*> words) {
  return std::any_of(words.begin(), words.end(),
                     [&](const char* word) { return text.find(word) != std::string::npos; });
}

// In the words of argparse, click, absl, getopt and fire.
bool RefusesJobDir(const std::string& line) {
  const std::string low = LowerCase(line);
  return HoldsAny(low, {"job-dir", "job_dir"}) &&
         HoldsAny(low, {"unrecognized", "unknown", "no such option", "not recognized", "unexpected",
                        "could not consume", "got unexpected"});
}

std::set<std::string> FilesBelow(const Path& folder) {
  std::set<std::string> names;
  std::error_code error;
  using Walk = std::filesystem::recursive_directory_iterator;
  for (Walk entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    names.insert(entry->path().filename().string());
  }
  return names;
}

// "No such file or directory: '/.../trainer/vocabulary.txt'", and the source tree has one.
bool MissesOwnFile(const std::string& line, const Course& course) {
  if (!course.trainer.source || line.find("No such file or directory: '") == line.npos) {
    return false;
  }
  const size_t end = line.rfind('\'');
  const size_t slash = line.rfind('/', end);
  const size_t quote = line.rfind('\'', end - 1);
  const size_t begin = (slash == line.npos || slash < quote ? quote : slash) + 1;
  return FilesBelow(course.trainer.source->parent_path()).contains(line.substr(begin, end - begin));
}

bool IsOfPackage(const std::string& line, const Course& course) {
  if (course.trainer.is_container) return false;
  return HoldsAny(line, {"ModuleNotFoundError: ", "ImportError: ", "Error while finding module"}) ||
         line.find(": No module named ") != line.npos || MissesOwnFile(line, course);
}

struct Told {
  FailureCause cause = FailureCause::kOther;
  std::string line = {};
};

Told Look(const Course& course) {
  const CourseRun& run = course.Of("plain");
  for (const std::string& line : Split(AllWords(run), '\n')) {
    if (RefusesJobDir(line)) return {FailureCause::kJobDirFlag, line};
    if (IsOfPackage(line, course)) return {FailureCause::kPackage, line};
  }
  return {};
}

}  // namespace

FailureCause CauseOf(const Course& course) {
  if (course.Of("plain").succeeded()) return FailureCause::kNone;
  return Look(course).cause;
}

std::string TellingLine(const Course& course) { return std::string(Trim(Look(course).line)); }

}  // namespace caip::harness
