#pragma once
// The messages of `ai custom-jobs` and `ai hp-tuning-jobs`: gcloud's, with caip's commands.

#include <string>
#include <string_view>

#include "base/result.h"
#include "client/vertex/job_name.h"

namespace caip::cli::ai_texts {

/// The first line of each command that calls the service.
std::string UsingEndpoint(std::string_view url);
/// `name`: the full name in the response.
std::string CustomJobSubmitted(std::string_view name);
std::string TuningJobSubmitted(std::string_view id, std::string_view region,
                               std::string_view state);
std::string CancelSent(const client::vertex::JobName& job);
// `local-run`.
std::string PackageIsSet(std::string_view directory);
std::string StartingToRun();
std::string LocalRunFinished(std::string_view image);
/// The job did not succeed, and says nothing about it.
std::string LocalRunEnded(std::string_view state);
/// Adds to an error of --filter which language it takes.
Error WithFilterLanguage(Error error);

}  // namespace caip::cli::ai_texts
