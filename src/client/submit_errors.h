#pragma once
// Every text about a config file and flags that do not make a Job. Violations name a place of the
// file as a JSON pointer ("/trainingInput/region") or a flag ("--master-machine-type").

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_fwd.h"
#include "base/result.h"

namespace caip::client::submit_errors {

// What gcloud's client itself says (exit code 1).
Error ImageAndRuntimeVersion();
Error CustomTierNeedsMachineType(bool tier_from_file);
Error NoPackages(bool file_has_package_uris);

// Where gcloud crashes on a file: each names the value, the rule and what to write instead.
FieldViolation NotAMapping(std::string pointer, const Json& value);
FieldViolation WrongType(std::string pointer, std::string_view wanted, const Json& value);
FieldViolation EmptyEnum(std::string pointer, std::span<const std::string_view> names);
FieldViolation NullInList(std::string pointer);
FieldViolation NotFinite(std::string pointer);
FieldViolation BrokenBase64(std::string pointer, std::string_view text);
FieldViolation IsADate(std::string pointer);
FieldViolation ReservedKey(std::string pointer);
/// All of them in one error.
Error FileDoesNotFit(std::vector<FieldViolation> violations);

// Traps: what gcloud does silently, and how to say what was meant (--strict).
FieldViolation PackageUrisDiscarded();
FieldViolation WebAccessOverwritten();
FieldViolation RegionIgnored(std::string_view in_file, std::string_view used);
FieldViolation JobIdIgnored(std::string_view in_file, std::string_view used);
FieldViolation ArgsErased();
FieldViolation LabelsReplaced(const std::vector<std::string>& lost);
FieldViolation UnknownKey(std::string pointer, std::string_view key, std::string_view nearest);
FieldViolation UnknownEnum(std::string pointer, const Json& value,
                           std::span<const std::string_view> names);
FieldViolation UnknownEnumBeatsFlag(std::string pointer, std::string_view flag);
FieldViolation NotSpelledAsMeant(std::string pointer, const Json& value, std::string_view sent);
FieldViolation DuplicateKey(std::string pointer);
FieldViolation JobDirAmongUserArgs();
/// All of them in one error.
Error Traps(std::vector<FieldViolation> violations);

}  // namespace caip::client::submit_errors
