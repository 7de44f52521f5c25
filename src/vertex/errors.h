#pragma once
// Every text that a user of the API can read in an error is made here or, for the rules of a
// CustomJob, in validate/violations.h. A maker is named after the failure and takes the facts.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace caip::vertex::errors {

// Requests.
Error JobNotFound();
Error JobAlreadyExists();
Error PipelineNotFound();
Error TuningJobNotFound();
/// Of a cancel or a delete of one trial: kFailedPrecondition.
Error TrialNotItsOwn(std::string_view name, std::string_view tuning_job);
/// Of a delete: kFailedPrecondition.
Error JobHasNotEnded(std::string_view resource, std::string_view name, std::string_view state);
/// `resource` is the message that the body must be: "CustomJob".
Error BodyNoObject(std::string_view resource);
Error LocationUnknown(std::string_view location, const std::vector<std::string>& known);
Error PageSizeNegative(long long page_size);
Error PageTokenBroken();
Error FilterBroken(std::string_view filter, size_t offset, std::string_view why);
Error OperationNotFound(std::string_view name);
/// 501: a service, collection or method that caip does not have (docs/service/vertex.md, section
/// 10). `what` is its name: "modelToUpload", "projects.locations.models.create".
Error NotServed(std::string_view what);

/// 501: fields of a resource, one violation each.
Error FieldsNotServed(std::vector<FieldViolation> violations);
Error PersistentResourceNotFound(std::string_view id);

// The rules of a resource.
/// One error with all violations: "List of found errors:\t1.Field: F; Message: M\t". At least one.
Error ListOfErrors(std::vector<FieldViolation> violations, Code code = Code::kInvalidArgument);

// Found when a job is created, by looking at Cloud Storage.
FieldViolation PackageUnreadable(std::string field, std::string_view uri,
                                 std::string_view service_account);
FieldViolation OutputBucketMissing(std::string_view bucket);
FieldViolation OutputUnwritable(std::string_view uri, std::string_view service_account);

// Of our own data.
Error CatalogBroken(std::string_view entry, std::string_view why);
/// Of the content of a stored job; the caller knows which job it is.
Error StoredJobBroken(std::string_view why);
Error StoredJobUnreadable(std::string_view job, const Error& cause);

}  // namespace caip::vertex::errors
