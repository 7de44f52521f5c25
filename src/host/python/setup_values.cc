#include "host/python/setup_values.h"

#include <algorithm>
#include <filesystem>
#include <set>

namespace caip::host {
namespace {

using SetupNames = std::set<std::string_view>;
using SetupResult = std::optional<SetupValue>;
using SetupFunction = SetupResult (*)(const SetupArguments&, SetupUse);

bool IsOneOf(const SetupNames& names, std::string_view name) { return names.count(name) > 0; }

// Those with which setuptools neither reads nor runs more than the files that it packs.
const SetupNames& PackArguments() {
  static const SetupNames kNames = {"author",
                                    "author_email",
                                    "classifiers",
                                    "description",
                                    "download_url",
                                    "extras_require",
                                    "include_package_data",
                                    "install_requires",
                                    "keywords",
                                    "license",
                                    "long_description",
                                    "long_description_content_type",
                                    "maintainer",
                                    "maintainer_email",
                                    "name",
                                    "package_data",
                                    "packages",
                                    "platforms",
                                    "project_urls",
                                    "py_modules",
                                    "provides",
                                    "python_requires",
                                    "requires",
                                    "url",
                                    "version",
                                    "zip_safe"};
  return kNames;
}

// Those that say what is installed where.
const SetupNames& InstallArguments() {
  static const SetupNames kNames = {
      "data_files",  "entry_points",       "headers", "license_file", "license_files",
      "package_dir", "namespace_packages", "scripts", "test_suite",   "tests_require",
  };
  return kNames;
}

// Methods of texts, lists and dictionaries whose result depends on nothing else.
const SetupNames& DataMethods() {
  static const SetupNames kNames = {
      "append", "decode", "encode", "endswith", "extend",  "find",       "format", "get",
      "index",  "insert", "items",  "join",     "keys",    "lower",      "lstrip", "partition",
      "rfind",  "remove", "rsplit", "rstrip",   "replace", "rpartition", "split",  "splitlines",
      "sort",   "strip",  "title",  "upper",    "values",  "startswith"};
  return kNames;
}

SetupValue SetupPath(std::string path) { return {SetupKind::kPath, std::move(path)}; }

bool AreData(const std::vector<SetupValue>& values, size_t from = 0) {
  return values.size() <= from ||
         std::all_of(values.begin() + static_cast<std::ptrdiff_t>(from), values.end(), IsData);
}

bool AreData(const SetupArguments& arguments, const SetupNames& named) {
  return std::all_of(arguments.named.begin(), arguments.named.end(), [&](const auto& argument) {
    return IsOneOf(named, argument.first) && IsData(argument.second);
  });
}

// A path as functions take it: 'README.md' is a text, too.
SetupResult AsPath(const SetupValue& value) {
  return value.kind == SetupKind::kPath ? value : PathBelow(SetupPath(""), value);
}

SetupResult PathBelowAll(SetupResult path, const std::vector<SetupValue>& parts, size_t from) {
  for (size_t i = from; path && i < parts.size(); ++i) path = PathBelow(*path, parts[i]);
  return path;
}

// An edit may change a source, a file that a build makes of sources, and the list of the
// distribution's members. A script must not read these.
bool MayRead(const SetupValue& path, SetupUse use) {
  const std::string& name = *path.text;
  if (name.empty() || name.find(".py") != std::string::npos) return false;
  if (name.find(".egg-info") != std::string::npos) return false;
  return use == SetupUse::kInstall || name.find('/') == std::string::npos;
}

SetupResult CallSetup(const SetupArguments& arguments, SetupUse use) {
  if (!arguments.listed.empty()) return std::nullopt;
  for (const auto& [name, value] : arguments.named) {
    const bool is_known = IsOneOf(PackArguments(), name) ||
                          (use == SetupUse::kInstall && IsOneOf(InstallArguments(), name));
    if (!is_known || !IsData(value)) return std::nullopt;
    // With one directory above all packages, no directory becomes two packages.
    if (name == "package_dir" && value.kind != SetupKind::kRootMap) return std::nullopt;
  }
  return SetupValue{SetupKind::kNothing};
}

SetupResult FindPackages(const SetupArguments& arguments, SetupUse use) {
  SetupArguments others = arguments;
  const auto where = others.named.extract("where");
  if (!where.empty() && (use == SetupUse::kBuild || !AsPath(where.mapped()))) return std::nullopt;
  if (!others.listed.empty() && !AsPath(others.listed[0])) return std::nullopt;
  if (!AreData(others.listed, 1) || !AreData(others, {"include", "exclude"})) return std::nullopt;
  return SetupValue{};
}

SetupResult OpenFile(const SetupArguments& arguments, SetupUse use) {
  if (arguments.listed.empty() || !AreData(arguments.listed, 1)) return std::nullopt;
  const SetupResult path = AsPath(arguments.listed[0]);
  if (!path || !MayRead(*path, use)) return std::nullopt;
  if (!AreData(arguments, {"mode", "encoding", "errors", "newline", "buffering"})) return {};
  const auto named = arguments.named.find("mode");
  SetupValue mode{SetupKind::kData, "r"};
  if (arguments.listed.size() > 1) mode = arguments.listed[1];
  if (named != arguments.named.end()) mode = named->second;
  if (!mode.text || !IsOneOf({"r", "rb", "rt"}, *mode.text)) return std::nullopt;
  return SetupValue{SetupKind::kFile};
}

SetupResult JoinPaths(const SetupArguments& arguments, SetupUse /*use*/) {
  const auto& parts = arguments.listed;
  if (parts.empty() || !arguments.named.empty()) return std::nullopt;
  if (!IsData(parts[0])) return PathBelowAll(parts[0], parts, 1);
  if (!AreData(parts)) return std::nullopt;
  std::filesystem::path joined;
  for (const SetupValue& part : parts) {
    if (!part.text) return SetupValue{};
    joined /= *part.text;
  }
  return SetupValue{SetupKind::kData, joined.string()};
}

// The only argument; nullopt if there are others.
SetupResult OnlyArgument(const SetupArguments& arguments) {
  const bool is_only = arguments.listed.size() == 1 && arguments.named.empty();
  return is_only ? SetupResult(arguments.listed[0]) : std::nullopt;
}

SetupResult DirectoryOfPath(const SetupArguments& arguments, SetupUse /*use*/) {
  const SetupResult path = OnlyArgument(arguments);
  if (path && IsData(*path)) return SetupValue{};
  return path ? ParentOfSetup(*path) : std::nullopt;
}

SetupResult AbsolutePath(const SetupArguments& arguments, SetupUse /*use*/) {
  const SetupResult path = OnlyArgument(arguments);
  return path && path->kind != SetupKind::kScript ? AsPath(*path) : path;
}

// The setup.py of a source tree may be a link to another directory.
SetupResult ResolvedPath(const SetupArguments& arguments, SetupUse use) {
  const SetupResult path = AbsolutePath(arguments, use);
  const bool may_be_link = path && path->kind == SetupKind::kScript && use == SetupUse::kBuild;
  return may_be_link ? std::nullopt : path;
}

SetupResult MakePath(const SetupArguments& arguments, SetupUse /*use*/) {
  const auto& parts = arguments.listed;
  if (!arguments.named.empty()) return std::nullopt;
  if (parts.empty()) return SetupPath("");
  if (parts[0].kind == SetupKind::kScript) return OnlyArgument(arguments);
  return PathBelowAll(AsPath(parts[0]), parts, 1);
}

SetupResult MakeText(const SetupArguments& arguments, SetupUse /*use*/) {
  const SetupResult value = OnlyArgument(arguments);
  if (value && IsData(*value)) return SetupValue{};
  const bool is_path =
      value && (value->kind == SetupKind::kPath || value->kind == SetupKind::kScript);
  return is_path ? value : std::nullopt;
}

// `list(file)` has the lines of the file.
SetupResult MakeData(const SetupArguments& arguments, SetupUse /*use*/) {
  for (const SetupValue& value : arguments.listed) {
    if (!IsData(value) && value.kind != SetupKind::kFile) return std::nullopt;
  }
  for (const auto& [name, value] : arguments.named) {
    if (!IsData(value)) return std::nullopt;
  }
  return SetupValue{};
}

const std::map<std::string_view, SetupFunction>& SetupFunctions() {
  static const std::map<std::string_view, SetupFunction> kFunctions = {
      {"setuptools.setup", CallSetup},
      {"setuptools.find_packages", FindPackages},
      {"setuptools.find_namespace_packages", FindPackages},
      {"distutils.core.setup", CallSetup},
      {"open", OpenFile},
      {"io.open", OpenFile},
      {"codecs.open", OpenFile},
      {"os.path.join", JoinPaths},
      {"os.path.dirname", DirectoryOfPath},
      {"os.path.abspath", AbsolutePath},
      {"os.path.normpath", AbsolutePath},
      {"os.path.realpath", ResolvedPath},
      {"pathlib.Path", MakePath},
      {"str", MakeText},
      {"dict", MakeData},
      {"len", MakeData},
      {"list", MakeData},
      {"sorted", MakeData},
      {"tuple", MakeData},
  };
  return kFunctions;
}

SetupResult CallFileMethod(std::string_view name, const SetupArguments& arguments) {
  const bool reads = IsOneOf({"close", "read", "readline", "readlines"}, name);
  return DataIf(reads && AreData(arguments.listed) && arguments.named.empty());
}

SetupResult CallPathMethod(const SetupValue& path, std::string_view name,
                           const SetupArguments& arguments, SetupUse use) {
  if (name == "joinpath" && arguments.named.empty()) {
    return PathBelowAll(path, arguments.listed, 0);
  }
  if (name == "open") {
    SetupArguments opened = arguments;
    opened.listed.insert(opened.listed.begin(), path);
    return OpenFile(opened, use);
  }
  if (name != "read_text" && name != "read_bytes") return std::nullopt;
  const bool is_known = AreData(arguments.listed) && AreData(arguments, {"encoding", "errors"});
  return DataIf(is_known && MayRead(path, use));
}

}  // namespace

bool IsData(const SetupValue& value) {
  return value.kind == SetupKind::kData || value.kind == SetupKind::kRootMap;
}

SetupResult DataIf(bool is_known) {
  if (!is_known) return std::nullopt;
  return SetupValue{};
}

bool IsSetupModule(std::string_view name) {
  static const SetupNames kModules = {"setuptools", "distutils", "distutils.core", "os", "os.path",
                                      "io",         "codecs",    "pathlib",        "sys"};
  return IsOneOf(kModules, name);
}

bool IsSetupFunction(std::string_view name) { return SetupFunctions().count(name) > 0; }

SetupResult PathBelow(const SetupValue& value, const SetupValue& part) {
  if (value.kind != SetupKind::kPath || part.kind != SetupKind::kData || !part.text) return {};
  const std::filesystem::path name = *part.text;
  if (name.is_absolute()) return std::nullopt;
  std::filesystem::path path = *value.text;
  for (const auto& each : name) {
    if (each == "..") return std::nullopt;
    if (!each.empty() && each != ".") path /= each;
  }
  return SetupPath(path.string());
}

SetupResult ParentOfSetup(const SetupValue& value) {
  return value.kind == SetupKind::kScript ? SetupResult(SetupPath("")) : std::nullopt;
}

SetupResult CallSetupFunction(std::string_view name, const SetupArguments& arguments,
                              SetupUse use) {
  return SetupFunctions().at(name)(arguments, use);
}

SetupResult CallSetupMethod(const SetupValue& value, std::string_view name,
                            const SetupArguments& arguments, SetupUse use) {
  if (IsData(value)) {
    const bool is_known = IsOneOf(DataMethods(), name) && AreData(arguments.listed) &&
                          std::all_of(arguments.named.begin(), arguments.named.end(),
                                      [](const auto& each) { return IsData(each.second); });
    return DataIf(is_known);
  }
  if (value.kind == SetupKind::kFile) return CallFileMethod(name, arguments);
  if (name == "absolute") return AbsolutePath({{value}, {}}, use);
  if (name == "resolve") return ResolvedPath({{value}, {}}, use);
  return value.kind == SetupKind::kPath ? CallPathMethod(value, name, arguments, use)
                                        : std::nullopt;
}

}  // namespace caip::host
