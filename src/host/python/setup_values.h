#pragma once
// What a setup.py computes, as far as it shows which files the script may read.

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace caip::host {

/// What a setup.py is read for.
enum class SetupUse {
  kBuild,    // of a source distribution; the script may read files beside it
  kInstall,  // of a source distribution; the script may read files in it
};

enum class SetupKind {
  kData,         // texts, numbers and lists: functions of the script and of the files that it reads
  kRootMap,      // {'': ...}, which is data, too
  kScript,       // the path of setup.py
  kPath,         // a path below the directory of setup.py, or this directory
  kFile,         // a file that is open for reading
  kModule,       // of Python's library or of setuptools
  kFunction,     // of such a module
  kOwnFunction,  // of the script
  kNothing,      // what setup() returns
};

/// A value of the script.
struct SetupValue {
  SetupKind kind = SetupKind::kData;
  // kData: the text, if it is known. kPath: the path, "" for the directory of setup.py.
  // kModule and kFunction: the name, such as os.path.join.
  std::optional<std::string> text = {};
  size_t at = 0;  // kOwnFunction: the token at which its parameters begin
};

/// The arguments of a call.
struct SetupArguments {
  std::vector<SetupValue> listed;
  std::map<std::string_view, SetupValue> named;
};

bool IsData(const SetupValue& value);
/// Data, or nullopt.
std::optional<SetupValue> DataIf(bool is_known);
bool IsSetupModule(std::string_view name);
bool IsSetupFunction(std::string_view name);

/// The path `value` with `part` below it. nullopt: it may leave the directory of setup.py, or one
/// of the two is not known.
std::optional<SetupValue> PathBelow(const SetupValue& value, const SetupValue& part);

/// The value of `Path(...).parent`.
std::optional<SetupValue> ParentOfSetup(const SetupValue& value);

/// The result of a function for which IsSetupFunction is true. nullopt: it may depend on more than
/// its arguments and the files that the use allows, or it is not known.
std::optional<SetupValue> CallSetupFunction(std::string_view name, const SetupArguments& arguments,
                                            SetupUse use);
/// The same for a method of a value.
std::optional<SetupValue> CallSetupMethod(const SetupValue& value, std::string_view name,
                                          const SetupArguments& arguments, SetupUse use);

}  // namespace caip::host
