#include "emulator/explore/explored_job.h"

#include <chrono>
#include <system_error>

#include "base/json.h"
#include "base/text.h"
#include "client/packaging.h"
#include "emulator/explore/fingerprint.h"
#include "emulator/scenario/built_job.h"
#include "emulator/scenario/run_settings.h"
#include "google/gcs_uri.h"

namespace caip::explore {
namespace {

/// Rewrites relative paths in arguments so that they are valid from another folder.
class Paths {
 public:
  explicit Paths(const Path& out) : out_(out) {
    std::error_code error;
    here_ = std::filesystem::current_path(error);
  }

  std::vector<std::string> Of(const std::vector<std::string>& words) const {
    return scenario::WithFiles(
        words, {here_, [this](const Path& path) { return RelativeTo(out_, path).string(); },
                [this](const std::string& word) { return UserArg(word); }});
  }

 private:
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

// The flags that the service requires and the arguments lack. Checks the arguments.
Result<std::vector<std::string>> MissingFlags(scenario::JobWords words) {
  auto* submit = std::get_if<client::SubmitRequest>(&words.request);
  if (submit && submit->package_path) {  // this does not need a built package
    submit->packages.push_back("gs://job/package.tar.gz");
    submit->package_path.reset();
  }
  const bool is_training = submit != nullptr;
  ASSIGN_OR_RETURN(const Json input, scenario::MergedDocument(std::move(words)));
  if (!is_training || harness::TrainingJobs().RunsImage(input) ||
      input.contains("runtimeVersion")) {
    return std::vector<std::string>{};
  }
  std::vector<std::string> flags = {"--runtime-version", scenario::kDefaultRuntime};
  if (!input.contains("pythonVersion")) {
    flags.insert(flags.end(), {"--python-version", scenario::kDefaultPython});
  }
  return flags;
}

}  // namespace

// Those of a check, unless others are given.
std::string LimitsText(const JobLimits& limits) {
  const auto text = [](Duration time) {
    return std::to_string(std::chrono::duration_cast<std::chrono::milliseconds>(time).count()) +
           "ms";
  };
  return "limits: {wall: " + (limits.wall ? text(*limits.wall) : "10m") +
         ", no_progress: " + (limits.stall ? text(*limits.stall) : "1m") +
         (limits.grace ? ", grace: " + text(*limits.grace) : "") + "}\n";
}

Result<Path> WriteExploredJob(const std::vector<std::string>& words, const Path& out,
                              const JobLimits& limits, const app::EmulatorFlags& flags,
                              const scenario::ReadJobWords& read) {
  const harness::JobKind& kind = scenario::KindOfFlags(words);
  ASSIGN_OR_RETURN(scenario::JobWords meant, read(kind, words));
  const auto* submit = std::get_if<client::SubmitRequest>(&meant.request);
  if (submit && submit->package_path) {
    RETURN_IF_ERROR(client::CheckPackageFolder(*submit->package_path));
  }
  ASSIGN_OR_RETURN(const bool is_posix,
                   scenario::UsesDirectories(scenario::Merged(meant.emulator, flags)));
  ASSIGN_OR_RETURN(std::vector<std::string> all, MissingFlags(std::move(meant)));
  RETURN_IF_ERROR(MakeDirectories(out));
  const std::vector<std::string> found = Paths(out).Of(words);
  all.insert(all.end(), found.begin(), found.end());
  const std::string text = std::string("description: The job that was given to caip explore.\n") +
                           LimitsText(limits) + (is_posix ? "semantics: posix\n" : "") + "job: {" +
                           std::string(kind.words_key()) + ": " + CompactJson(Json(all)) + "}\n";
  const Path file = out / ("job-" + ShortHash(text) + ".yaml");
  RETURN_IF_ERROR(WriteFile(file, text));
  return file;
}

Result<harness::Scenario> WithPackagesBuilt(harness::Scenario scenario, const Path& workshop,
                                            const scenario::ReadJobWords& read,
                                            const std::function<void(const std::string&)>& warn) {
  ASSIGN_OR_RETURN(scenario::JobWords words, scenario::ReadWordsOf(scenario, read));
  if (const auto* submit = std::get_if<client::SubmitRequest>(&words.request)) {
    scenario.package_parent = client::ParentOfPackage(submit->package_path);
  }
  ASSIGN_OR_RETURN(scenario::BuiltJob built, scenario::BuildJob(std::move(words), "", workshop));
  if (!built.warning.empty()) warn(built.warning);
  scenario::UseBuiltJob(std::move(built), scenario);
  return scenario;
}

}  // namespace caip::explore
