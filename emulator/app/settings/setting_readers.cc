#include "emulator/app/settings/setting_readers.h"

#include <algorithm>
#include <charconv>
#include <filesystem>

#include "base/text.h"
#include "host/companions/companions.h"
#include "host/process/child_process.h"
#include "host/process/image_map.h"
#include "http/transport/peer_user.h"
#include "images/image_reference.h"
#include "vertex/nfs_mounts.h"

namespace caip::app {
namespace {

constexpr uint64_t kPortMax = 65535;
constexpr uint64_t kJobsMax = 1'000'000;
constexpr uint64_t kConnectionsMax = 100'000;
constexpr uint64_t kDiskSizeMax = 1'000'000;  // of any unit

template <typename Number>
std::optional<Number> NumberOf(const Json& value, uint64_t most) {
  const std::string text = SettingText(value).value_or("");
  uint64_t number = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (code != std::errc() || text.empty() || end != text.data() + text.size() || number > most) {
    return std::nullopt;
  }
  return static_cast<Number>(number);
}

}  // namespace

std::optional<std::vector<std::string>> ShellWords(std::string_view text) {
  std::vector<std::string> words;
  std::string word;
  bool in_word = false;
  char quote = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '\\' && quote != '\'' && i + 1 < text.size()) {
      word += text[++i];
      in_word = true;
    } else if (quote != 0) {
      if (c == quote) {
        quote = 0;
      } else {
        word += c;
      }
    } else if (c == '\'' || c == '"') {
      quote = c;
      in_word = true;
    } else if (c == ' ' || c == '\t' || c == '\n') {
      if (in_word) words.push_back(std::move(word));
      word.clear();
      in_word = false;
    } else {
      word += c;
      in_word = true;
    }
  }
  if (quote != 0) return std::nullopt;
  if (in_word) words.push_back(std::move(word));
  return words;
}

std::optional<std::string> SettingText(const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value == false) return "off";  // YAML's reading of `access_log: off`
  if (value.is_number() || value.is_boolean()) return value.dump();
  return std::nullopt;
}

// The value stays a text, because a background server gets it as a flag.
SettingProblems SetIdleTimeout(const Json& value, EmulatorOptions& options) {
  options.background_idle = SettingText(value).value_or("");
  if (!ParseDuration(options.background_idle)) {
    return {errors::NotADuration(options.background_idle)};
  }
  return {};
}

SettingProblems SetLauncher(const Json& value, EmulatorOptions& options) {
  const std::string text = SettingText(value).value_or("");
  std::vector<std::string> names;
  for (const auto& [name, kind] : host::LauncherKinds()) {
    if (name == text) {
      options.launcher = kind;
      return {};
    }
    names.push_back(name);
  }
  return {errors::NotOneOf(text, names)};
}

SettingProblems SetSeed(const Json& value, EmulatorOptions& options) {
  const auto seed = NumberOf<uint64_t>(value, UINT64_MAX);
  if (!seed) return {errors::NotASeed(SettingText(value).value_or(""))};
  options.seed = *seed;
  return {};
}

SettingProblems SetJobsMax(const Json& value, EmulatorOptions& options) {
  const auto most = NumberOf<int>(value, kJobsMax);
  if (!most) return {errors::NotANumberUpTo(kJobsMax, "0: no limit")};
  options.jobs_max = *most;
  return {};
}

SettingProblems SetConnectionsMax(const Json& value, EmulatorOptions& options) {
  const auto most = NumberOf<int>(value, kConnectionsMax);
  if (!most) return {errors::NotANumberUpTo(kConnectionsMax, "0: as many as open files allow")};
  options.connections_max = *most;
  return {};
}

SettingProblems SetDiskLimits(const Json& value, EmulatorOptions& options) {
  const std::string text = SettingText(value).value_or("");
  options.only_named_disk_sizes = text == "asked";
  options.disk_bytes_max = text == "job" || text == "asked" ? EmulatorOptions::kByJob : 0;
  if (options.disk_bytes_max != 0 || text == "off") return {};
  for (const auto& [unit, shift] :
       {std::pair("MB", 20), std::pair("GB", 30), std::pair("TB", 40)}) {
    if (!text.ends_with(unit)) continue;
    const auto number = NumberOf<uint64_t>(Json(text.substr(0, text.size() - 2)), kDiskSizeMax);
    if (number && *number > 0) options.disk_bytes_max = *number << shift;
  }
  if (options.disk_bytes_max == 0) return {errors::NotADiskSize(text)};
  return {};
}

SettingProblems SetPort(const Json& value, EmulatorOptions& options) {
  const auto port = NumberOf<uint16_t>(value, kPortMax);
  if (!port) return {errors::NotANumberUpTo(kPortMax, "0: any free port")};
  options.port = *port;
  return {};
}

// A flag has names with commas, the config file a list. "all": everybody.
SettingProblems SetAllowedUsers(const Json& value, EmulatorOptions& options) {
  std::vector<std::string> names;
  if (value.is_array()) {
    for (const Json& element : value) names.push_back(SettingText(element).value_or(""));
  } else {
    names = Split(SettingText(value).value_or(""), ',');
  }
  options.allowed_users.clear();
  options.allow_all_users = false;
  SettingProblems problems;
  for (const std::string& name : names) {
    if (name == "all") {
      options.allow_all_users = true;
    } else if (const auto user = http::UserNamed(name)) {
      options.allowed_users.push_back(*user);
    } else {
      problems.push_back(errors::NotAUser(name));
    }
  }
  return problems;
}

namespace {

// The path of an image in a file does not depend on the directory that the emulator runs in.
std::vector<std::string> CompleteLocation(std::vector<std::string> entry) {
  const auto location = host::ImageLocation(entry);
  if (!location) return entry;
  std::error_code error;
  const std::string path = std::filesystem::absolute(*location, error).string();
  return {std::string(host::LocationWord(entry.front())) + path};
}

}  // namespace

// A path may have blanks and quotes. One word may be quoted, as in a shell.
std::optional<std::vector<std::string>> ImageWords(std::string_view text) {
  auto words = ShellWords(text);
  const std::string_view place = Trim(text);
  const bool is_place = !host::LocationWord(place).empty();
  if (is_place && (!words || words->size() != 1)) return std::vector{std::string(place)};
  return words;
}

std::optional<ImageMapping> ReadImageMapping(std::string_view text) {
  const size_t equals = text.find('=');
  if (equals == 0 || equals == std::string::npos) return std::nullopt;
  auto command = ImageWords(text.substr(equals + 1));
  if (!command || command->empty()) return std::nullopt;
  return ImageMapping{std::string(text.substr(0, equals)), CompleteLocation(*std::move(command))};
}

// A flag has the form "URI=COMMAND". The config file has a mapping of images to commands.
SettingProblems SetImages(const Json& value, EmulatorOptions& options) {
  if (value.is_string()) {
    const auto text = value.get<std::string>();
    const auto mapping = ReadImageMapping(text);
    if (!mapping) return {errors::NotAnImage(text)};
    const auto name = images::ImageReference::Parse(mapping->uri);
    if (!name.ok()) return {errors::Because(name.error())};
    options.images[mapping->uri] = mapping->entry;
    return {};
  }
  if (!value.is_object()) return {errors::NotAMapping()};
  SettingProblems problems;
  for (const auto& [uri, member] : value.items()) {
    std::vector<std::string> command;
    if (member.is_string()) {
      command = ImageWords(member.get<std::string>()).value_or(std::vector<std::string>{});
    } else {
      for (const Json& word : member.is_array() ? member : Json::array()) {
        command.push_back(SettingText(word).value_or(""));
      }
    }
    const bool is_name = images::ImageReference::Parse(uri).ok();
    const bool is_command = !command.empty() && !command.front().empty();
    if (!is_name) problems.push_back(errors::NotAnImageName(uri));
    if (!is_command) problems.push_back(errors::NotACommand(uri));
    if (is_name && is_command) {
      options.images[uri] = CompleteLocation(std::move(command));
    }
  }
  return problems;
}

std::optional<std::string> FindPython(const std::string& text) {
  std::error_code error;
  Path path = text;
  if (text.find('/') == std::string::npos && !std::filesystem::is_directory(path, error)) {
    path = host::FindProgram(text, OwnVariable("PATH"));
  }
  if (std::filesystem::is_directory(path, error)) path /= "bin/python3";
  if (path.empty() || !host::IsProgram(path.string())) return std::nullopt;
  return std::filesystem::absolute(path, error).lexically_normal().string();
}

SettingProblems SetPython(const Json& value, EmulatorOptions& options) {
  const std::string text = SettingText(value).value_or("");
  const auto python = FindPython(text);
  if (!python) return {errors::NotAPython(text)};
  options.python = *python;
  return {};
}

SettingProblems SetRuntimes(const Json& value, EmulatorOptions& options) {
  if (!value.is_object()) return {errors::NotAMapping()};
  SettingProblems problems;
  for (const auto& [version, path] : value.items()) {
    if (path.is_string() && path.get<std::string>().starts_with("/")) {
      options.runtimes[version] = path.get<std::string>();
    } else {
      problems.push_back(errors::NotAnInterpreter(version));
    }
  }
  return problems;
}

SettingProblems SetNfsExports(const Json& value, EmulatorOptions& options) {
  if (!value.is_object()) return {errors::NotAMapping()};
  SettingProblems problems;
  std::map<std::string, std::string> exports;
  for (const auto& [name, member] : value.items()) {
    const auto source = vertex::NormalExport(name);
    Path directory = Path(SettingText(member).value_or("")).lexically_normal();
    if (!directory.has_filename()) directory = directory.parent_path();  // without a final slash
    if (!source) {
      problems.push_back(errors::NotAnExport(name));
    } else if (!directory.is_absolute()) {
      problems.push_back(errors::NotADirectory(name));
    } else if (!exports.emplace(*source, directory.string()).second) {
      problems.push_back(errors::ExportRepeated(name, *source));
    }
  }
  options.nfs_exports = std::move(exports);
  return problems;
}

SettingProblems SetCompanions(const Json& value, EmulatorOptions& options) {
  SettingProblems problems = SetList<&EmulatorOptions::companions>(value, options);
  const std::vector<std::string> known = host::CompanionNames();
  for (const std::string& name : options.companions) {
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      problems.push_back(errors::NotACompanion(name, known));
    }
  }
  return problems;
}

SettingProblems SetCloudSdk(const Json& value, EmulatorOptions& options) {
  options.cloud_sdk = SettingText(value).value_or("");
  if (!options.cloud_sdk.starts_with("/")) return {errors::NotAnSdkPath()};
  return {};
}

}  // namespace caip::app
