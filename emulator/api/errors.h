#pragma once
// Texts of the ml API beyond jobs, and of what all APIs share. Those about jobs are in
// spec/errors.h.

#include <string>
#include <string_view>
#include <vector>

#include "base/files.h"
#include "base/result.h"

namespace caip::api::errors {

/// A method that the service has and caip has not.
Error NotEmulated(std::string_view method_id);
Error ApiUnknown(std::string_view asked);
Error LocationNotFound(std::string_view name);
Error OperationNotFound();
/// Of a body that is read by another table than the Job's.
Error BodyNoObject();
Error BodyTooLarge(size_t limit);

// Standard parameters.
Error CallbackRefused();
Error AltUnknown(std::string_view value);
Error AltRefused(std::string_view value);
Error ErrorFormatUnknown(std::string_view value);
Error QueryParameterUnknown(std::string_view name);
Error SelectorBroken(std::string_view selector, size_t offset, std::string_view why);
Error SelectorUnknown(std::string_view path);

// IAM.
FieldViolation PolicyMissing();
FieldViolation PolicyVersionUnknown(std::string field, long long version);
FieldViolation PolicyConditionNeedsVersion();
FieldViolation PolicyRoleMalformed(std::string_view role);
FieldViolation PolicyMembersMissing(std::string_view role);
FieldViolation PolicyMemberMalformed(std::string_view member);
FieldViolation PolicyMaskIllegal(std::string_view path);
FieldViolation PermissionWildcard(std::string_view permission);
FieldViolation PermissionUnknown(std::string_view permission);
Error PolicyEtagStale();
Error PolicyBroken(std::string_view file);

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
