#include "host/python/packages_pip.h"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "base/text.h"
#include "host/process/child_process.h"
#include "host/python/python_errors.h"

namespace caip::host {
namespace {

// pip settings that choose where or whether to install. pip must not get them.
constexpr std::array<std::string_view, 12> kMisleading = {
    "PIP_USER",   "PIP_TARGET",  "PIP_PREFIX",       "PIP_ROOT",
    "PIP_PYTHON", "PIP_DRY_RUN", "PIP_REQUIRE_VENV", "PIP_REQUIRE_VIRTUALENV",
    "PIP_LOG",    "PIP_QUIET",   "PIP_VERBOSE",      "PIP_REPORT"};

// pip settings that do not change the result, so the cache ignores them.
constexpr std::array<std::string_view, 9> kCosmetic = {
    "PIP_CACHE_DIR", "PIP_NO_CACHE_DIR", "PIP_DEFAULT_TIMEOUT",
    "PIP_TIMEOUT",   "PIP_RETRIES",      "PIP_DISABLE_PIP_VERSION_CHECK",
    "PIP_NO_COLOR",  "PIP_PROGRESS_BAR", "PIP_CERT"};

constexpr std::array<std::string_view, 25> kPassed = {"HOME",
                                                      "PATH",
                                                      "LANG",
                                                      "USER",
                                                      "LOGNAME",
                                                      "NETRC",
                                                      "SSL_CERT_FILE",
                                                      "SSL_CERT_DIR",
                                                      "REQUESTS_CA_BUNDLE",
                                                      "CURL_CA_BUNDLE",
                                                      "CC",
                                                      "CXX",
                                                      "CFLAGS",
                                                      "CXXFLAGS",
                                                      "CPPFLAGS",
                                                      "LDFLAGS",
                                                      "LD_LIBRARY_PATH",
                                                      "PKG_CONFIG_PATH",
                                                      "CUDA_HOME",
                                                      "MAKEFLAGS",
                                                      "XDG_CACHE_HOME",
                                                      "XDG_CONFIG_HOME",
                                                      "XDG_CONFIG_DIRS",
                                                      "SSH_AUTH_SOCK",
                                                      "SOURCE_DATE_EPOCH"};

template <typename List>
bool Holds(const List& list, std::string_view name) {
  return std::find(list.begin(), list.end(), name) != list.end();
}

bool IsPassed(std::string_view name) {
  if (name.starts_with("PIP_")) return !Holds(kMisleading, name);
  return Holds(kPassed, name) || name.starts_with("LC_") || LowerCase(name).ends_with("_proxy");
}

// The configuration files that pip reads outside of the environment (pip's documentation).
std::vector<Path> ConfigFiles(const Variables& own) {
  const Path home = FindVariable(own, "HOME").value_or("");
  const std::string xdg = FindVariable(own, "XDG_CONFIG_HOME").value_or("");
  std::vector<Path> files = {"/etc/pip.conf", home / ".pip/pip.conf",
                             (xdg.empty() ? home / ".config" : Path(xdg)) / "pip/pip.conf"};
  const std::string directories = FindVariable(own, "XDG_CONFIG_DIRS").value_or("");
  for (const std::string& directory : Split(directories.empty() ? "/etc/xdg" : directories, ':')) {
    files.push_back(Path(directory) / "pip/pip.conf");
  }
  const std::string named = FindVariable(own, "PIP_CONFIG_FILE").value_or("");
  if (!named.empty()) files.emplace_back(named);
  return files;
}

void AddSettings(const PipSettings& settings, std::vector<std::string>& argv) {
  if (settings.no_index) argv.emplace_back("--no-index");
  if (!settings.index_url.empty()) argv.insert(argv.end(), {"--index-url", settings.index_url});
  for (const std::string& place : settings.find_links) {
    argv.insert(argv.end(), {"--find-links", place});
  }
}

}  // namespace

std::vector<PipCommand> InstallCommands(const Path& python, const std::string& file_name,
                                        const PipSettings& settings, bool no_build_isolation) {
  std::vector<PipCommand> commands(2);
  const std::vector<std::string> own_words[] = {{"--upgrade", "--force-reinstall", "--no-deps"},
                                                {}};
  for (size_t i = 0; i < 2; ++i) {
    std::vector<std::string> words = {"install"};
    words.insert(words.end(), own_words[i].begin(), own_words[i].end());
    commands[i].shown = "pip3 " + Join(words, " ") + " " + file_name;
    commands[i].argv = {python.string(), "-m", "pip"};
    commands[i].argv.insert(commands[i].argv.end(), words.begin(), words.end());
    words.insert(words.begin() + 1, "--user");
    commands[i].quoted = "pip3 " + Join(words, " ") + " " + file_name;
    AddSettings(settings, commands[i].argv);
    if (no_build_isolation) commands[i].argv.emplace_back("--no-build-isolation");
    // The prefix prevents that pip reads the name as an option or as a name in an index.
    commands[i].argv.push_back("./" + file_name);
  }
  return commands;
}

bool SparesBuildIsolation(const ArchiveFacts& facts, const BuildTools& tools) {
  if (!tools.has_setuptools || !tools.has_wheel) return false;
  const auto pip = ParsePythonMinor(tools.pip);
  const bool isolates = facts.has_pyproject || (pip && *pip >= PythonMinor{25, 3});
  return isolates &&
         std::all_of(facts.build_requires.begin(), facts.build_requires.end(),
                     [](const auto& name) { return name == "setuptools" || name == "wheel"; });
}

Variables PipEnvironment(const Variables& own, const Path& environment, const Path& scratch) {
  Variables variables;
  for (const auto& [name, value] : own) {
    if (!IsPassed(name)) continue;
    const std::string bin = (environment / "bin").string();
    variables.emplace_back(name, name == "PATH" ? bin + ":" + value : value);
  }
  variables.emplace_back("VIRTUAL_ENV", environment.string());
  variables.emplace_back("TMPDIR", scratch.string());
  variables.emplace_back("PIP_USER", "0");  // the environment's pip.conf sets 1, for the trainer
  variables.emplace_back("PIP_NO_INPUT", "1");
  variables.emplace_back("PYTHONNOUSERSITE", "1");
  variables.emplace_back("PYTHONUNBUFFERED", "1");
  if (FindVariable(own, "PIP_DISABLE_PIP_VERSION_CHECK").value_or("").empty()) {
    variables.emplace_back("PIP_DISABLE_PIP_VERSION_CHECK", "1");
  }
  return variables;
}

std::vector<std::string> PipFacts(const Variables& own, const PipSettings& settings) {
  std::vector<std::string> facts;
  for (const auto& [name, value] : own) {
    const bool matters =
        name.starts_with("PIP_") && !Holds(kMisleading, name) && !Holds(kCosmetic, name);
    if (matters) facts.push_back(name + "=" + value);
  }
  for (const Path& file : ConfigFiles(own)) {
    struct stat known = {};
    if (::stat(file.c_str(), &known) != 0) continue;
    facts.push_back(file.string() + ":" + std::to_string(known.st_size) + ":" +
                    std::to_string(known.st_mtim.tv_sec) + "." +
                    std::to_string(known.st_mtim.tv_nsec));
  }
  std::sort(facts.begin(), facts.end());
  AddSettings(settings, facts);
  return facts;
}

}  // namespace caip::host
