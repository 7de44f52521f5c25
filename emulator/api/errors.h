#pragma once
// Texts of all APIs, of the ml API except jobs (ml/errors.h), and of the optimizer API
// (projects.locations.studies).

#include <string>
#include <string_view>
#include <vector>

#include "base/files.h"
#include "base/result.h"

namespace caip::api::errors {

/// A method of the service that caip does not emulate.
Error NotEmulated(std::string_view method_id);
Error ApiUnknown(std::string_view asked);
Error LocationNotFound(std::string_view name);
Error OperationNotFound();
/// About the body of any method except those of jobs.
Error BodyNoObject();
Error BodyTooLarge(size_t limit);

/// About a request that another emulator should have got.
Error MeantForAnotherProcess(std::string_view wanted, int own);

// Standard parameters.
Error CallbackRefused();
Error AltUnknown(std::string_view value);
Error AltRefused(std::string_view value);
Error ErrorFormatUnknown(std::string_view value);
Error QueryParameterUnknown(std::string_view name);
Error ReadMaskBroken(std::string_view mask);
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
/// About a call that needs a running trial.
Error TrialEnded();
Error StudyOperationNotFound();
/// The violations of `cause`, which are about a trial's values, with the path of the field.
std::vector<FieldViolation> TrialParametersIllegal(const Error& cause);
FieldViolation ParameterTwice(std::string field, std::string_view parameter);
FieldViolation ParameterHasTwoValues(std::string field, std::string_view parameter);
/// About a trial that a user creates.
FieldViolation TrialStateIllegal(std::string_view state);
FieldViolation OutcomeMissing();
FieldViolation NegativeProgress(std::string field);
FieldViolation SuggestionCountIllegal(long long count, long long most);
FieldViolation ClientIdMissing();
FieldViolation MeasurementMissing();
FieldViolation MeasurementOutOfOrder(std::string_view field);
FieldViolation MetricUnknown(std::string_view field, std::string_view metric);
FieldViolation TooManyMetrics(std::string_view field, size_t count, size_t most);
FieldViolation MetricMissing(std::string_view field, std::string_view metric);
Error NothingMeasured();
/// A line of the emulator's log; `why` is the stopping rule's sentence.
std::string TrialShouldStop(std::string_view trial, std::string_view why);
/// Always kInternal: a client can do nothing about the file.
Error StudyStoreFailed(Code code, const Path& file, std::string_view why);
Error StudyStoreTooNew(const Path& file, int64_t version);

}  // namespace caip::api::errors
