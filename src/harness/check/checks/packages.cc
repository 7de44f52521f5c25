// What was packed and installed, beside the source tree: three checks of one look.

#include "harness/check/check.h"
#include "harness/check/evidence_lines.h"
#include "harness/check/failure_cause.h"

namespace caip::harness {
namespace {

constexpr char kSource[] =
    "docs/service/submit.md, section 4: packages; "
    "docs/service/replica-environment.md, section 5: pip install";
constexpr char kPackAdvice[] =
    "Only what setup.py names is installed: packages=find_packages() finds folders with an "
    "__init__.py, data files need package_data. Without a setup.py of your own the package is "
    "packed without its sub-packages.";

const Json& ListOf(const CourseRun& run, const char* name) {
  static const Json kNone = Json::array();
  const Json* list = Member(run.look, name);
  return list ? *list : kNone;
}

std::string MissingLine(const Json& missing) {
  const std::string referrer = StringOr(missing, "referrer");
  return "not installed: " + StringOr(missing, "path") + " (" + StringOr(missing, "why") + ")" +
         (referrer.empty() ? "" : ", wanted by " + referrer);
}

std::string UndeclaredLine(const Json& module) {
  return StringOr(module, "where") + " imports " + StringOr(module, "module") + ", " +
         StringOr(module, "why");
}

// "No module named 'yaml'" of a module that is nobody's in the packages.
bool TellsOfDependency(const Course& course) {
  const std::string line = TellingLine(course);
  for (const Json& module : ListOf(course.Of("packages"), "undeclared")) {
    if (line.find("'" + StringOr(module, "module") + "'") != std::string::npos) return true;
  }
  return false;
}

Ruling JudgeInstalled(const Course& course) {
  const FailureCause cause = CauseOf(course);
  if (cause == FailureCause::kNone) {
    return Pass("it ran from what was installed, without the source tree");
  }
  if (cause != FailureCause::kPackage) return Skip("the job fails for another reason");
  if (TellsOfDependency(course)) return Skip("package/dependencies tells why it does not start");
  Ruling ruling = FailOf(course.Of("plain"), "from its installed package", kPackAdvice);
  ruling.evidence.insert(ruling.evidence.begin(), TellingLine(course));
  for (const Json& missing : ListOf(course.Of("packages"), "missing")) {
    ruling.evidence.push_back(MissingLine(missing));
  }
  return ruling;
}

Ruling JudgeComplete(const Course& course) {
  if (!course.trainer.source) return Skip("there is no --package-path to hold the package against");
  if (CauseOf(course) == FailureCause::kPackage) {
    return Skip("package/installed or package/dependencies tells what is missing");
  }
  Ruling ruling{CheckVerdict::kWarn, "", {}, kPackAdvice};
  for (const Json& missing : ListOf(course.Of("packages"), "missing")) {
    if (!StringOr(missing, "referrer").empty()) ruling.verdict = CheckVerdict::kFail;
    ruling.evidence.push_back(MissingLine(missing));
  }
  if (ruling.evidence.empty()) return Pass("all files of the package are installed");
  ruling.found =
      std::to_string(ruling.evidence.size()) +
      " files of the source tree are not "
      "installed" +
      (ruling.verdict == CheckVerdict::kFail ? ", and the trainer wants some of them on another day"
                                             : "; nothing in the package names them");
  return ruling;
}

Ruling JudgeDependencies(const Course& course) {
  Ruling ruling{CheckVerdict::kFail, ""};
  for (const Json& module : ListOf(course.Of("packages"), "undeclared")) {
    ruling.evidence.push_back(UndeclaredLine(module));
  }
  if (ruling.evidence.empty())
    return Pass("every import is declared, or the runtime version has it");
  ruling.found = std::to_string(ruling.evidence.size()) +
                 " imports are of packages that nobody "
                 "declares";
  ruling.advice =
      "Name them in install_requires of setup.py: the machines have the frameworks of the runtime "
      "version and what you declare, not what this host has.";
  return ruling;
}

}  // namespace

CheckKind InstalledCheck() {
  return {"package/installed",
          "The trainer works from its installed package, not only from source.",
          kSource,
          {"plain", "packages"},
          JudgeInstalled};
}

CheckKind CompletePackageCheck() {
  return {"package/complete",
          "All modules and data files of the source tree are in the package.",
          kSource,
          {"plain", "packages"},
          JudgeComplete};
}

CheckKind DependenciesCheck() {
  return {"package/dependencies",
          "What the trainer imports is declared by its package.",
          kSource,
          {"packages"},
          JudgeDependencies};
}

}  // namespace caip::harness
