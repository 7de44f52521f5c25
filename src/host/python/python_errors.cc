#include "host/python/python_errors.h"

#include "base/quoting.h"
#include "base/text.h"

namespace caip::host::errors {

std::string OtherPython(std::string_view wanted, std::string_view given, std::string_view path) {
  return "Python " + std::string(wanted) + " was asked for; running " + std::string(given) + " (" +
         std::string(path) + ") because this host has no Python " + std::string(wanted) +
         ". Install one or name it under `runtimes:` in the configuration; --strict-runtime "
         "refuses "
         "such jobs.";
}

std::string OtherPythonGiven(std::string_view wanted, std::string_view given, std::string_view path,
                             std::string_view giver) {
  return "Python " + std::string(wanted) + " was asked for; running " + std::string(given) + " (" +
         std::string(path) + "), because " + std::string(giver) + ".";
}

Error PythonNotHere(std::string_view wanted, std::string_view nearest) {
  return {Code::kFailedPrecondition,
          "Python " + std::string(wanted) +
              " was asked for, and this host has none; the nearest is " + std::string(nearest) +
              ", which --strict-runtime rules out. Install Python " + std::string(wanted) +
              " or name one under `runtimes:` in the configuration."};
}

Error PythonTwo(std::string_view wanted) {
  return {Code::kFailedPrecondition,
          "Python " + std::string(wanted) +
              " was asked for; caip runs Python 3 only. Port the "
              "application and submit it with --python-version=3.7, or map " +
              Quoted(wanted) + " to a Python 3 under `runtimes:` in the configuration."};
}

Error NoInterpreter(std::string_view wanted) {
  return {Code::kFailedPrecondition,
          "Python " + std::string(wanted) +
              " was asked for, and no Python 3 was found on this "
              "host: neither on PATH, nor in /usr/bin, nor in pyenv. Install one (Debian: apt-get "
              "install python3 python3-pip python3-setuptools python3-wheel), or name it under "
              "`interpreters:` in the configuration."};
}

Error InterpreterSilent(const Path& path, std::chrono::milliseconds patience) {
  return {Code::kFailedPrecondition,
          Quoted(path.string()) + " did not report its version within " +
              std::to_string(patience.count()) +
              " ms, so that it was not used. The host is busy, or the program waits for something. "
              "Run `" +
              path.string() + " --version` to see which, and submit the job again."};
}

Error GivenInterpreterBroken(std::string_view path, std::string_view giver) {
  return {Code::kFailedPrecondition, Quoted(path) + " is not a working Python (" +
                                         std::string(giver) + "). Name another one."};
}

Error InterpreterTooOld(std::string_view path, std::string_view version, std::string_view giver) {
  return {Code::kFailedPrecondition, Quoted(path) + " is Python " + std::string(version) + " (" +
                                         std::string(giver) +
                                         "); caip needs 3.5 or newer. Name another one."};
}

Error InterpreterWithoutPip(const Path& path) {
  return {
      Code::kFailedPrecondition,
      "The packages cannot be installed: " + path.string() +
          " has no pip. Install it (Debian: "
          "apt-get install python3-pip python3-setuptools python3-wheel), or choose another Python "
          "under `runtimes:` in the configuration."};
}

std::string RuntimeDiffers(const RuntimeEnvironment& runtime) {
  const std::vector<std::string> differences = runtime.Differences();
  if (differences.empty()) return "";
  return "Runtime version " + runtime.version + " as installed here has " +
         Join(differences, ", ") + "; the service's versions are in parentheses.";
}

Error RuntimesBusy(const Path& runtimes) {
  return {Code::kFailedPrecondition, "Another command installs or removes a runtime version in " +
                                         runtimes.string() +
                                         ". Wait until it ends, and try again."};
}

Error FrameworkNotFound(std::string_view name, std::string_view python,
                        std::string_view output_end) {
  return {Code::kAborted,
          "pip finds no version of " + Quoted(name) + " for Python " + std::string(python) +
              ". Check the network and pip's settings, or choose another interpreter with "
              "--python.\n" +
              std::string(output_end)};
}

Error FrameworkUnusable(std::string_view python, std::string_view output_end) {
  return {Code::kAborted, "The frameworks were installed, but cannot be imported with Python " +
                              std::string(python) +
                              ". Choose another interpreter with --python.\n" +
                              std::string(output_end)};
}

Error PythonHookUnwritable(const Error& cause) {
  return {cause.code,
          "Records of Python's logging will be plain lines, all of them ERROR: the hook that tells "
          "them apart could not be written: " +
              cause.message};
}

Error PackageNameless(std::string_view uri) {
  return {Code::kUnavailable,
          "The package " + std::string(uri) + " has no file name after its last slash."};
}

Error PackageUnreadable(std::string_view uri, const Error& cause) {
  return {Code::kUnavailable,
          "The package " + std::string(uri) + " could not be downloaded: " + cause.message};
}

Error PackageRefused(std::string_view uri, const Error& cause) {
  return {cause.code, "The package " + std::string(uri) + " was not installed: " + cause.message};
}

Error PackageNoArchive(std::string_view package, std::string_view why) {
  return {Code::kDataLoss,
          Quoted(package) + " is not a readable sdist or wheel (" + std::string(why) +
              "). Packages are .tar.gz, .tar.bz2, .tar.xz, .zip or .whl files as `python setup.py "
              "sdist` or bdist_wheel make them."};
}

Error PackageMemberOutside(std::string_view package, std::string_view member) {
  return {Code::kInvalidArgument, "member " + Quoted(member) + " of " + Quoted(package) +
                                      " lies outside of the package. Build the package again."};
}

Error PackageMemberNameless(std::string_view package) {
  return {Code::kInvalidArgument,
          Quoted(package) + " has a member whose name cannot be read. Build the package again."};
}

Error PackageMemberSpecial(std::string_view package, std::string_view member) {
  return {Code::kInvalidArgument, "member " + Quoted(member) + " of " + Quoted(package) +
                                      " is neither file nor directory nor link."};
}

Error PackageLinkOutside(std::string_view package, std::string_view member, std::string_view to) {
  return {Code::kInvalidArgument, "member " + Quoted(member) + " of " + Quoted(package) +
                                      " is a link out of the package, to " + Quoted(to) + "."};
}

Error PackageTooManyMembers(std::string_view package, uint64_t limit) {
  return {Code::kInvalidArgument,
          Quoted(package) + " has more than " + std::to_string(limit) + " members."};
}

Error PackageTooLarge(std::string_view package, std::string_view member, uint64_t limit) {
  return {Code::kInvalidArgument, Quoted(package) + " unpacks to more than " +
                                      std::to_string(limit) + " bytes, at member " +
                                      Quoted(member) + "."};
}

Error PipFailed(std::string_view command, int status, std::string_view output_end) {
  return {Code::kAborted, "Command " + Quoted(command) + " returned non-zero exit status " +
                              std::to_string(status) + ".\n" + std::string(output_end)};
}

Error EnvironmentNotMade(const Error& cause) {
  return {cause.code, "The Python environment of the job could not be made: " + cause.message};
}

Error InstallationStopped() { return {Code::kCancelled, "The installation was stopped."}; }

}  // namespace caip::host::errors
