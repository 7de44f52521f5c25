#pragma once
// Every text that a user of the ML API can read in an error is made here or, for the rules of a
// Job, in violations.h. A maker is named after the failure and takes the facts.

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace caip::ml::errors {

// Requests about jobs.
Error JobAlreadyExists();
Error JobNotFound();
Error ProjectDenied(std::string_view project);
Error BodyNoObject();
Error PageSizeNegative(long long page_size);
Error PageTokenBroken();
Error FilterBroken(std::string_view filter, size_t offset, std::string_view why);
Error UpdateMaskMissing();
Error UpdateMaskIllegal(std::string_view path);
Error EtagMissing();
Error EtagStale();

// Found when a job is created, by looking at Cloud Storage.
Error PackagesUnreadable(std::string_view service_account);
Error JobDirBucketMissing(std::string_view bucket);
Error JobDirUnwritable(std::string_view job_dir, std::string_view service_account);

// A study that continues an earlier job's.
/// Why it cannot, one violation each.
Error NotResumable(const std::vector<std::string>& reasons);
std::string ResumedMissing(std::string_view job_id);
std::string ResumedNotTuning(std::string_view job_id);
std::string ResumedNotFinished(std::string_view job_id);
std::string ResumedDiffers(std::string_view job_id, std::string_view field);

// Of our own data.
Error CatalogBroken(std::string_view entry, std::string_view why);
/// Of the content of a stored job; the caller knows which job it is.
Error StoredJobBroken(const Error& cause);
Error StoredJobUnreadable(std::string_view job, const Error& cause);
Error StoredJobWithoutInput();

}  // namespace caip::ml::errors
