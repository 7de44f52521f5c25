#pragma once
// The errors about flags and a file of --config that do not make a Job, and the remedies for what
// the service rejects in such a file. A function is named after the failure and takes the facts.

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_fwd.h"
#include "base/result.h"

namespace caip::client::submit_errors {

// Errors about a config file and flags that do not make a Job. A violation names a place in the
// file as a JSON pointer ("/trainingInput/region"), or a flag ("--master-machine-type").

// Errors that gcloud's client itself reports (exit code 1).
Error ImageAndRuntimeVersion();
Error CustomTierNeedsMachineType(bool tier_from_file);
/// `late_flag`: a flag of packages among the arguments of the trainer; "" if there is none.
Error NoPackages(bool file_has_package_uris, std::string_view late_flag);

// Mistakes in a file on which gcloud crashes. Each text has the value, the rule and the remedy.
FieldViolation NotAMapping(std::string pointer, const Json& value);
FieldViolation WrongType(std::string pointer, std::string_view wanted, const Json& value);
FieldViolation EmptyEnum(std::string pointer, std::span<const std::string_view> names);
FieldViolation NullInList(std::string pointer);
FieldViolation NotFinite(std::string pointer);
FieldViolation BrokenBase64(std::string pointer, std::string_view text);
FieldViolation IsADate(std::string pointer);
FieldViolation ReservedKey(std::string pointer);
/// One error with all violations.
Error FileDoesNotFit(std::vector<FieldViolation> violations);

// Traps: surprising things that gcloud does silently, and their remedies (--strict).
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
/// One error with all violations.
Error Traps(std::vector<FieldViolation> violations);

/// For --sort-by. `nearest`: "" if no field has a similar name.
Error NoJobField(std::string_view path, std::string_view nearest);

// The remedies for what the service rejects in a file: the text after the key's name.
/// The key is a field elsewhere. `places`: "trainingInput", or "" for the Job itself.
std::string FieldOfOtherPlace(std::string_view key, const std::vector<std::string>& places);
/// `nearest`: "" if no field has a similar name.
std::string NoSuchField(std::string_view key, std::string_view nearest,
                        const std::vector<std::string>& known);
std::string ProtoNameUsed(std::string_view name);
std::string NoSuchEnumValue(const Json& value, std::span<const std::string_view> names);
/// `seconds`: the duration as the service reads it; "" if the text is not a duration at all.
std::string NotAProtoDuration(std::string_view text, std::string_view seconds);

}  // namespace caip::client::submit_errors
