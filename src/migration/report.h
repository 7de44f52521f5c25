#pragma once
// The texts about a migrated job: what differs, and the command that creates it.

#include <string>
#include <string_view>

#include "base/result.h"
#include "migration/migration.h"

namespace caip::migration {

/// The differences as lines for people. Ends with a line end.
std::string DifferencesText(const MigratedJob& job);

/// The command that creates the job from a file: "caip ai custom-jobs create --region R
/// --display-name N --labels k=v --config FILE". `program` is its first word. Without a file, the
/// command ends before --config.
std::string CreateLine(const MigratedJob& job, std::string_view program, std::string_view file);

/// A shell command that creates the job, with its file as the standard input. kInvalidArgument: the
/// job skips a pool, and has parts that no flag can say.
Result<std::string> CreateCommand(const MigratedJob& job, std::string_view program,
                                  std::string (*to_yaml)(const Json& value));

}  // namespace caip::migration
