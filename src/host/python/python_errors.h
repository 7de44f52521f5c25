#pragma once
// The texts of errors and warnings about interpreters and packages. A maker is named after the
// failure and takes the facts.

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/files.h"
#include "base/result.h"
#include "host/python/runtime_environments.h"

namespace caip::host::errors {

// Interpreters. The first three are warnings for a job's log.
std::string OtherPython(std::string_view wanted, std::string_view given, std::string_view path);
std::string OtherPythonGiven(std::string_view wanted, std::string_view given, std::string_view path,
                             std::string_view giver);
Error PythonNotHere(std::string_view wanted, std::string_view nearest);
Error PythonTwo(std::string_view wanted);
Error NoInterpreter(std::string_view wanted);
Error InterpreterSilent(const Path& path, std::chrono::milliseconds patience);
Error GivenInterpreterBroken(std::string_view path, std::string_view giver);
Error InterpreterTooOld(std::string_view path, std::string_view version, std::string_view giver);
Error InterpreterWithoutPip(const Path& path);

// Installed runtime versions. The first is a note for a job's log; "" if nothing differs.
std::string RuntimeDiffers(const RuntimeEnvironment& runtime);
Error RuntimesBusy(const Path& runtimes);
Error FrameworkNotFound(std::string_view name, std::string_view python,
                        std::string_view output_end);
Error FrameworkUnusable(std::string_view python, std::string_view output_end);

// The hook for Python's logging.
Error PythonHookUnwritable(const Error& cause);

// Packages.
Error PackageNameless(std::string_view uri);
Error PackageUnreadable(std::string_view uri, const Error& cause);
Error PackageRefused(std::string_view uri, const Error& cause);  // kInvalidArgument
Error PackageNoArchive(std::string_view package, std::string_view why);
Error PackageMemberOutside(std::string_view package, std::string_view member);
Error PackageMemberNameless(std::string_view package);
Error PackageMemberSpecial(std::string_view package, std::string_view member);
Error PackageLinkOutside(std::string_view package, std::string_view member, std::string_view to);
Error PackageTooManyMembers(std::string_view package, uint64_t limit);
Error PackageTooLarge(std::string_view package, std::string_view member, uint64_t limit);
Error PipFailed(std::string_view command, int status, std::string_view output_end);
Error EnvironmentNotMade(const Error& cause);
Error InstallationStopped();

}  // namespace caip::host::errors
