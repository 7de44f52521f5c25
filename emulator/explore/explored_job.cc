#include "emulator/explore/explored_job.h"

#include <set>
#include <system_error>

#include "base/json.h"
#include "base/text.h"
#include "emulator/explore/errors.h"
#include "emulator/explore/fingerprint.h"
#include "emulator/scenario/built_job.h"
#include "google/gcs_uri.h"

namespace caip::explore {
namespace {

// The limits of a check. A run begins with the installation of an environment.
constexpr char kLimits[] = "limits: {wall: 10m, no_progress: 1m}\n";

/// Rewrites relative paths in arguments so that they are valid from another folder.
class Paths {
 public:
  explicit Paths(const Path& out) : out_(out) {
    std::error_code error;
    here_ = std::filesystem::current_path(error);
  }

  std::vector<std::string> Of(const std::vector<std::string>& words) const {
    std::vector<std::string> found;
    bool user_args = false;
    std::string before;
    for (const std::string& word : words) {
      user_args = user_args || word == "--";
      const size_t equals = word.find('=');
      const std::string flag = word.substr(0, equals);
      if (!user_args && NamesFiles(before)) {
        found.push_back(Files(word));
      } else if (!user_args && equals != std::string::npos && NamesFiles(flag)) {
        found.push_back(flag + "=" + Files(word.substr(equals + 1)));
      } else {
        found.push_back(user_args ? UserArg(word) : word);
      }
      before = word;
    }
    return found;
  }

 private:
  static bool NamesFiles(const std::string& flag) {
    static const std::set<std::string> flags = {"--package-path", "--config", "--packages",
                                                "--flags-file"};
    return flags.contains(flag);
  }

  // A scenario resolves a value with one path. Several paths must be absolute.
  std::string Files(const std::string& value) const {
    const std::vector<std::string> names = Split(value, ',');
    if (names.size() == 1) {
      return google::HasGcsScheme(value) ? value : RelativeTo(out_, here_ / value).string();
    }
    std::vector<std::string> whole;
    for (const std::string& name : names) {
      whole.push_back(google::HasGcsScheme(name) ? name : (here_ / name).string());
    }
    return Join(whole, ",");
  }

  // The program gets this argument unchanged and runs in another folder.
  std::string UserArg(const std::string& word) const {
    const size_t equals = word.starts_with("-") ? word.find('=') : std::string::npos;
    const size_t begin = equals == std::string::npos ? 0 : equals + 1;
    const std::string value = word.substr(begin);
    std::error_code error;
    const bool is_file = value.find('/') != std::string::npos && !google::HasGcsScheme(value) &&
                         std::filesystem::exists(here_ / value, error);
    return is_file ? word.substr(0, begin) + (here_ / value).lexically_normal().string() : word;
  }

  Path out_;
  Path here_;
};

// The flags that the service requires and the arguments lack.
Result<std::vector<std::string>> MissingFlags(const std::vector<std::string>& words,
                                              const client::ReadSubmitWords& read) {
  ASSIGN_OR_RETURN(client::SubmitRequest request, read(words));
  // This does not need a built package.
  if (request.package_path) request.packages.push_back("gs://job/package.tar.gz");
  request.package_path.reset();
  ASSIGN_OR_RETURN(const Json input, scenario::MergedInput(std::move(request)));
  if (scenario::IsContainer(input)) return errors::ContainerNeedsScenario();
  if (input.contains("runtimeVersion")) return std::vector<std::string>{};
  std::vector<std::string> flags = {"--runtime-version", scenario::kDefaultRuntime};
  if (!input.contains("pythonVersion")) {
    flags.insert(flags.end(), {"--python-version", scenario::kDefaultPython});
  }
  return flags;
}

}  // namespace

Result<Path> WriteExploredJob(const std::vector<std::string>& words, const Path& out,
                              const client::ReadSubmitWords& read) {
  ASSIGN_OR_RETURN(std::vector<std::string> all, MissingFlags(words, read));
  RETURN_IF_ERROR(MakeDirectories(out));
  const std::vector<std::string> found = Paths(out).Of(words);
  all.insert(all.end(), found.begin(), found.end());
  const std::string text = std::string("description: The job that was given to caip explore.\n") +
                           kLimits + "job: {submit: " + CompactJson(Json(all)) + "}\n";
  const Path file = out / ("job-" + ShortHash(text) + ".yaml");
  RETURN_IF_ERROR(WriteFile(file, text));
  return file;
}

Result<harness::Scenario> WithPackagesBuilt(harness::Scenario scenario,
                                            const std::vector<std::string>& words,
                                            const Path& workshop,
                                            const client::ReadSubmitWords& read) {
  ASSIGN_OR_RETURN(client::SubmitRequest request, read(Paths(".").Of(words)));
  ASSIGN_OR_RETURN(scenario::BuiltJob built, scenario::BuildJob(std::move(request), "", workshop));
  scenario.submit.clear();
  scenario.training_input = std::move(built.training_input);
  scenario.buckets = std::move(built.buckets);
  return scenario;
}

}  // namespace caip::explore
