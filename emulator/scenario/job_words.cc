#include "emulator/scenario/job_words.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <system_error>

#include "base/quoting.h"
#include "base/text.h"
#include "base/yaml.h"
#include "emulator/app/settings/setting_readers.h"
#include "google/gcs_uri.h"

namespace caip::scenario {
namespace {

constexpr char kImageFlag[] = "--map-image";
constexpr char kPackagesFlag[] = "--packages";
constexpr char kPackageFlag[] = "--package-path";
constexpr char kConfigFlag[] = "--config";
constexpr char kPoolFlag[] = "--worker-pool-spec";
constexpr std::string_view kPoolPackageKey = "local-package-path=";
// The keys by which the file of --config shows what it describes.
constexpr const char* kCustomFileKeys[] = {"workerPoolSpecs", "worker_pool_specs", "jobSpec",
                                           "job_spec"};
constexpr const char* kTuningFileKeys[] = {"studySpec", "study_spec", "trialJobSpec",
                                           "trial_job_spec"};

bool NamesFiles(const std::string& flag) {
  static const std::set<std::string> flags = {kPackageFlag, kConfigFlag,   kPackagesFlag,
                                              kImageFlag,   kPoolFlag,     "--emulator-config",
                                              "--state",    "--flags-file"};
  return flags.contains(flag);
}

// A flag of a list of words, with its value.
struct GivenFlag {
  std::string name;
  std::string value;
};

// The flags before `--` that name files, as `--flag VALUE` or `--flag=VALUE`.
std::vector<GivenFlag> FileFlags(const std::vector<std::string>& words) {
  std::vector<GivenFlag> flags;
  for (size_t i = 0; i < words.size() && words[i] != "--"; ++i) {
    const size_t equals = words[i].find('=');
    const std::string flag = words[i].substr(0, equals);
    if (!NamesFiles(flag)) continue;
    if (equals != std::string::npos) flags.push_back({flag, words[i].substr(equals + 1)});
    if (equals == std::string::npos && i + 1 < words.size()) flags.push_back({flag, words[++i]});
  }
  return flags;
}

// The parts of a pool: "machine-type=n1-standard-4,local-package-path=src". As in gcloud, another
// separator may stand between carets in front.
struct PoolParts {
  std::string head;
  char separator = ',';
  std::vector<std::string> parts;
};

PoolParts SplitPool(const std::string& value) {
  PoolParts pool;
  const bool names_separator = value.size() > 2 && value[0] == '^' && value[2] == '^';
  if (names_separator) {
    pool.head = value.substr(0, 3);
    pool.separator = value[1];
  }
  pool.parts = Split(value.substr(pool.head.size()), pool.separator);
  return pool;
}

std::string PoolWord(const std::string& value, const FileWords& how) {
  PoolParts pool = SplitPool(value);
  for (std::string& part : pool.parts) {
    if (!part.starts_with(kPoolPackageKey)) continue;
    const std::string folder = part.substr(kPoolPackageKey.size());
    if (folder.starts_with("~")) continue;  // the client knows what it means
    part = std::string(kPoolPackageKey) + how.file(how.folder / folder);
  }
  return pool.head + Join(pool.parts, std::string(1, pool.separator));
}

// Turns "trainers/r01/broken.py" into its path, if the folder has a file of that name.
std::string FileIn(const Path& folder, const std::string& word) {
  if (word.empty() || word.starts_with('/')) return word;
  std::error_code error;
  const Path path = std::filesystem::weakly_canonical(folder / word, error);
  if (error) return word;
  const bool is_path = word.find('/') != std::string::npos;
  const bool exists = is_path ? std::filesystem::exists(path, error)
                              : std::filesystem::is_regular_file(path, error);
  return exists ? path.string() : word;
}

// "URI=COMMAND", whose command may name files.
std::string ImageWord(const std::string& value, const FileWords& how) {
  const size_t equals = value.find('=');
  const auto command = equals == std::string::npos
                           ? std::nullopt
                           : app::ImageWords(std::string_view(value).substr(equals + 1));
  if (!command) return value;
  std::vector<std::string> quoted;
  for (const std::string& word : CommandFrom(how.folder, *command)) {
    quoted.push_back(ShellQuoted(word));
  }
  return value.substr(0, equals + 1) + Join(quoted, " ");
}

std::string ValueWithFiles(const std::string& flag, const std::string& value,
                           const FileWords& how) {
  if (flag == kImageFlag) return ImageWord(value, how);
  if (flag == kPoolFlag) return PoolWord(value, how);
  const auto names = flag == kPackagesFlag ? Split(value, ',') : std::vector<std::string>{value};
  std::vector<std::string> found;
  for (const std::string& name : names) {
    found.push_back(google::HasGcsScheme(name) ? name : how.file(how.folder / name));
  }
  return Join(found, ",");
}

}  // namespace

std::vector<std::string> WithFiles(const std::vector<std::string>& words, const FileWords& how) {
  std::vector<std::string> found;
  bool user_args = false;
  std::string before;
  for (const std::string& word : words) {
    const size_t equals = word.find('=');
    const std::string flag = word.substr(0, equals);
    if (user_args) {
      found.push_back(how.user_arg(word));
    } else if (NamesFiles(before)) {
      found.push_back(ValueWithFiles(before, word, how));
    } else if (equals != std::string::npos && NamesFiles(flag)) {
      found.push_back(flag + "=" + ValueWithFiles(flag, word.substr(equals + 1), how));
    } else {
      found.push_back(word);
    }
    user_args = user_args || word == "--";
    before = word;
  }
  return found;
}

std::vector<std::string> PackageFolders(const std::vector<std::string>& words) {
  std::vector<std::string> folders;
  for (const GivenFlag& flag : FileFlags(words)) {
    if (flag.name == kPackageFlag) folders.push_back(flag.value);
    if (flag.name != kPoolFlag) continue;
    for (const std::string& part : SplitPool(flag.value).parts) {
      if (part.starts_with(kPoolPackageKey)) folders.push_back(part.substr(kPoolPackageKey.size()));
    }
  }
  return folders;
}

const harness::JobKind& KindOfFlags(const std::vector<std::string>& words) {
  for (const GivenFlag& flag : FileFlags(words)) {
    if (flag.name == kPoolFlag) return harness::CustomJobs();
    if (flag.name != kConfigFlag) continue;
    const auto text = ReadFileUpTo(flag.value, kYamlBytesMax);
    const auto file = text.ok() ? ParseYaml(*text, flag.value) : Result<YamlDocument>(text.error());
    if (!file.ok()) continue;  // the client reports it
    const auto has = [&](const char* key) { return Member(file->value, key) != nullptr; };
    if (std::ranges::any_of(kTuningFileKeys, has)) return harness::TuningJobs();
    if (std::ranges::any_of(kCustomFileKeys, has)) return harness::CustomJobs();
  }
  return harness::TrainingJobs();
}

std::vector<std::string> CommandFrom(const Path& folder, const std::vector<std::string>& command) {
  std::vector<std::string> found;
  for (const std::string& word : command) {
    const bool is_program = found.empty() && word.find('/') == std::string::npos;
    const bool is_module = !found.empty() && found.back() == "-m";
    found.push_back(is_program || is_module ? word : FileIn(folder, word));
  }
  return found;
}

Result<JobWords> ReadWordsOf(const harness::Scenario& scenario, const ReadJobWords& read) {
  FileWords how{scenario.job_folder, [](const Path& path) { return path.string(); },
                [](const std::string& word) { return word; }};
  return read(*scenario.kind, WithFiles(scenario.words, how));
}

}  // namespace caip::scenario
