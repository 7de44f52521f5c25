// The chapter package: what was packed and installed, compared with the source tree.

#include "base/text.h"
#include "harness/check/check.h"
#include "harness/check/run_evidence.h"

namespace caip::harness {
namespace {

constexpr char kPackageSource[] =
    "docs/service/submit.md, section 4: packages; "
    "docs/service/replica-environment.md, section 5: pip install";
constexpr char kPackingAdvice[] =
    "Only what setup.py names is installed: packages=find_packages() finds folders with an "
    "__init__.py, and data files need package_data. Without a setup.py of your own the package is "
    "packed without its subpackages.";

const Json& ListIn(const CheckRun& run, const char* name) {
  static const Json kNone = Json::array();
  const Json* list = Member(run.look, name);
  return list ? *list : kNone;
}

std::string DescribeMissingFile(const Json& missing) {
  const std::string referrer = StringOr(missing, "referrer");
  return "not installed: " + StringOr(missing, "path") + " (" + StringOr(missing, "why") + ")" +
         (referrer.empty() ? "" : ", needed by " + referrer);
}

std::string DescribeUndeclaredImport(const Json& module) {
  return StringOr(module, "where") + " imports " + StringOr(module, "module") + ", " +
         StringOr(module, "why");
}

CheckResult FailOfMissingInSource(const CheckSession& session, const std::string& module) {
  CheckResult result = FailOf(
      session.Run("plain"), "",
      "Add the file to the source, or correct the name: in --module-name, or in the import.");
  result.found = "no file of the source has the module '" + module + "'";
  result.evidence.insert(result.evidence.begin(), FindFailureLine(session));
  return result;
}

CheckResult CheckInstalledPackage(const CheckSession& session) {
  const FailureCause cause = FindFailureCause(session);
  if (cause == FailureCause::kNone) {
    return Pass("the trainer ran from its installed package, without the source tree");
  }
  if (cause != FailureCause::kPackage) return Skip("the job fails for another reason");
  const MissingModule module = MissingModuleOf(session);
  if (module.origin == MissingModule::Origin::kOtherPackage) {
    return Skip("the job fails: see package/dependencies");
  }
  if (module.origin == MissingModule::Origin::kNowhere) {
    return FailOfMissingInSource(session, module.name);
  }
  CheckResult result = FailOf(session.Run("plain"), "from its installed package", kPackingAdvice);
  result.evidence.insert(result.evidence.begin(), FindFailureLine(session));
  for (const Json& missing : ListIn(session.Run("packages"), "missing")) {
    result.evidence.push_back(DescribeMissingFile(missing));
  }
  return result;
}

CheckResult CheckCompletePackage(const CheckSession& session) {
  if (!session.trainer.source) {
    return Skip("without --package-path there is no source tree to compare with");
  }
  if (FindFailureCause(session) == FailureCause::kPackage) {
    return Skip("a module or file is missing: see package/installed and package/dependencies");
  }
  CheckResult result{CheckVerdict::kWarn, "", {}, kPackingAdvice};
  for (const Json& missing : ListIn(session.Run("packages"), "missing")) {
    if (!StringOr(missing, "referrer").empty()) result.verdict = CheckVerdict::kFail;
    result.evidence.push_back(DescribeMissingFile(missing));
  }
  if (result.evidence.empty()) return Pass("all files of the package are installed");
  result.found =
      std::to_string(result.evidence.size()) + " files of the source tree are not installed" +
      (result.verdict == CheckVerdict::kFail ? ", and the trainer's code names some of them"
                                             : "; no code of the package names them");
  return result;
}

CheckResult CheckDependencies(const CheckSession& session) {
  CheckResult result{CheckVerdict::kFail, ""};
  for (const Json& module : ListIn(session.Run("packages"), "undeclared")) {
    result.evidence.push_back(DescribeUndeclaredImport(module));
  }
  if (result.evidence.empty() &&
      MissingModuleOf(session).origin == MissingModule::Origin::kOtherPackage) {
    result.evidence.push_back(FindFailureLine(session));
  }
  if (result.evidence.empty()) {
    return Pass("every import is declared or part of the runtime version");
  }
  result.found = result.evidence.size() == 1 ? "an import comes from an undeclared package"
                                             : std::to_string(result.evidence.size()) +
                                                   " imports come from undeclared packages";
  result.advice =
      "Name them in install_requires of setup.py. The machines have the frameworks of the runtime "
      "version and what you declare, not what this host has.";
  return result;
}

}  // namespace

std::vector<CheckKind> PackageChecks() {
  return {
      {"package/installed",
       "The trainer runs from its installed package, not only from source.",
       kPackageSource,
       {"plain", "packages"},
       CheckInstalledPackage},
      {"package/complete",
       "All modules and data files of the source tree are in the package.",
       kPackageSource,
       {"plain", "packages"},
       CheckCompletePackage},
      {"package/dependencies",
       "The package declares everything that the trainer imports.",
       kPackageSource,
       {"plain", "packages"},
       CheckDependencies},
  };
}

}  // namespace caip::harness
