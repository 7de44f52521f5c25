#pragma once
// Every text of this module that a user can read, but for the table of differences. A maker is
// named after the failure and takes the facts.

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace caip::migration::errors {

/// The error of a job that cannot be migrated, with a line for each reason. At least one.
Error NotMigratable(std::vector<FieldViolation> reasons);

// Reasons. Fields are named as AI Platform names them.
FieldViolation BuiltInAlgorithm(std::string_view field, std::string_view image);
FieldViolation Tpu(std::string_view field);
FieldViolation ResumedStudy(std::string_view job);
FieldViolation RegionUnknown(std::string_view region, const std::vector<std::string>& known);
FieldViolation RuntimeWithoutImage(std::string_view runtime,
                                   const std::vector<std::string>& migratable);
FieldViolation PythonWithoutImage(std::string_view python, std::string_view known);
/// A rule of Vertex AI that the migrated job breaks. `field` is Vertex AI's.
FieldViolation RejectedByVertex(std::string_view field, std::string_view description);

/// The command cannot be written: gcloud takes a skipped pool only from flags, and these facts of
/// the job have no flag.
Error NoFlagsFor(const std::vector<std::string>& facts);
// Such facts.
std::string DiskHasNoFlag(size_t pool);
std::string ProgramsDiffer();
std::string WordRepeated(std::string_view word);
std::string NoSeparatorLeft(std::string_view flag);

// Of our own data.
Error TablesBroken(std::string_view entry, std::string_view why);

}  // namespace caip::migration::errors
