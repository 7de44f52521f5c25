#pragma once
// Texts of the ml API beyond jobs, and of what all APIs share. Those about jobs are in
// spec/errors.h.

#include <string>
#include <string_view>
#include <vector>

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

}  // namespace caip::api::errors
