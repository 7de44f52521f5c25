#pragma once
// Texts of the optimizer API (projects.locations.studies).

#include <string>
#include <string_view>
#include <vector>

#include "base/files.h"
#include "base/result.h"

namespace caip::api::errors {

Error StudyIdIllegal(std::string_view id);
Error StudyConfigMissing();
Error StudyExists();
Error StudyNotFound();
Error StudyNotActive(std::string_view state);
Error TrialNotFound();
/// Of a call that needs a trial that runs.
Error TrialEnded();
Error StudyOperationNotFound();
/// Violations for each of those of `cause`, which are about a trial's values.
std::vector<FieldViolation> TrialParametersIllegal(const Error& cause);
FieldViolation ParameterTwice(std::string field, std::string_view parameter);
FieldViolation ParameterHasTwoValues(std::string field, std::string_view parameter);
/// Of a trial that a user creates.
FieldViolation TrialStateIllegal(std::string_view state);
FieldViolation OutcomeMissing();
FieldViolation NegativeProgress(std::string field);
FieldViolation SuggestionCountIllegal(long long count, long long most);
FieldViolation ClientIdMissing();
FieldViolation MeasurementMissing();
FieldViolation MeasurementOutOfOrder(std::string_view field);
FieldViolation MetricUnknown(std::string_view field, std::string_view metric);
FieldViolation MetricMissing(std::string_view field, std::string_view metric);
Error NothingMeasured();
/// Of the emulator's log; `why` is the stopping rule's sentence.
std::string TrialShouldStop(std::string_view trial, std::string_view why);
/// Always kInternal: a client can do nothing about the file.
Error StudyStoreFailed(Code code, const Path& file, std::string_view why);
Error StudyStoreTooNew(const Path& file, int64_t version);

}  // namespace caip::api::errors
