#pragma once
// The errors of src/harness.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace caip::harness::errors {

/// All mistakes of a scenario in one error, each with its line, column and excerpt.
Error ScenarioNotValid(const std::vector<std::string>& mistakes);

/// kNotFound: the file that the user named.
Error ScenarioMissing(const std::string& file);

/// The lifetime of machines, as a text of a user.
Error NotALifetime(std::string_view text);

/// A line of an event list: "events.jsonl:7: ...".
Error EventListNotValid(const std::string& file, int64_t line, const std::string& what);
Error UnknownEventKind(const std::string& kind);

// Errors of the store of blocks. `number` is an errno.
Error CannotKeepBlocks(const std::string& file, int number);
Error TooManyBlocks(uint64_t limit);

// Errors of the stores, saves and launchers of a simulation.
Error NoSuchRecord(const std::string& what);
Error RecordExists();
Error SaveRefused();
Error NoSuchImage();

}  // namespace caip::harness::errors
