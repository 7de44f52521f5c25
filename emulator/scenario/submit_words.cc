#include "emulator/scenario/submit_words.h"

#include <set>
#include <system_error>

#include "base/quoting.h"
#include "base/text.h"
#include "emulator/app/settings/setting_readers.h"
#include "google/gcs_uri.h"

namespace caip::scenario {
namespace {

constexpr char kImageFlag[] = "--map-image";
constexpr char kPackagesFlag[] = "--packages";

bool NamesFiles(const std::string& flag) {
  static const std::set<std::string> flags = {"--package-path", "--config",          kPackagesFlag,
                                              kImageFlag,       "--emulator-config", "--state",
                                              "--flags-file"};
  return flags.contains(flag);
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
                           : app::ShellWords(std::string_view(value).substr(equals + 1));
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

std::vector<std::string> CommandFrom(const Path& folder, const std::vector<std::string>& command) {
  std::vector<std::string> found;
  for (const std::string& word : command) {
    const bool is_program = found.empty() && word.find('/') == std::string::npos;
    const bool is_module = !found.empty() && found.back() == "-m";
    found.push_back(is_program || is_module ? word : FileIn(folder, word));
  }
  return found;
}

Result<SubmitWords> ReadWordsOf(const harness::Scenario& scenario, const ReadSubmitWords& read) {
  FileWords how{scenario.job_folder, [](const Path& path) { return path.string(); },
                [](const std::string& word) { return word; }};
  return read(WithFiles(scenario.submit, how));
}

}  // namespace caip::scenario
