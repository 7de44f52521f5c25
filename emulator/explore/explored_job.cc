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

// The flags that the service requires and the arguments lack.
Result<std::vector<std::string>> MissingFlags(client::SubmitRequest request) {
  // This does not need a built package.
  if (request.package_path) request.packages.push_back("gs://job/package.tar.gz");
  request.package_path.reset();
  ASSIGN_OR_RETURN(const Json input, scenario::MergedInput(std::move(request)));
  if (scenario::IsContainer(input) || input.contains("runtimeVersion")) {
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
                              const scenario::ReadSubmitWords& read) {
  ASSIGN_OR_RETURN(scenario::SubmitWords meant, read(words));
  if (const auto& package = meant.request.package_path) {
    RETURN_IF_ERROR(client::CheckPackageFolder(*package));
  }
  ASSIGN_OR_RETURN(const bool is_posix,
                   scenario::UsesDirectories(scenario::Merged(meant.emulator, flags)));
  ASSIGN_OR_RETURN(std::vector<std::string> all, MissingFlags(std::move(meant.request)));
  RETURN_IF_ERROR(MakeDirectories(out));
  const std::vector<std::string> found = Paths(out).Of(words);
  all.insert(all.end(), found.begin(), found.end());
  const std::string text = std::string("description: The job that was given to caip explore.\n") +
                           LimitsText(limits) + (is_posix ? "semantics: posix\n" : "") +
                           "job: {submit: " + CompactJson(Json(all)) + "}\n";
  const Path file = out / ("job-" + ShortHash(text) + ".yaml");
  RETURN_IF_ERROR(WriteFile(file, text));
  return file;
}

Result<harness::Scenario> WithPackagesBuilt(harness::Scenario scenario, const Path& workshop,
                                            const scenario::ReadSubmitWords& read) {
  ASSIGN_OR_RETURN(scenario::SubmitWords words, scenario::ReadWordsOf(scenario, read));
  scenario.package_parent = client::ParentOfPackage(words.request.package_path);
  ASSIGN_OR_RETURN(scenario::BuiltJob built,
                   scenario::BuildJob(std::move(words.request), "", workshop));
  scenario.submit.clear();
  scenario.training_input = std::move(built.training_input);
  scenario.buckets = std::move(built.buckets);
  return scenario;
}

}  // namespace caip::explore
