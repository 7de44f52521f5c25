#pragma once
// The description of the judged endpoint: its features, and the cases that it is known to miss.

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "conformance/format/case_file.h"
#include "conformance/format/document.h"
#include "conformance/result.h"

namespace conform {

/// Cases that the target is known to fail, and the reason.
struct KnownMiss {
  std::string cases;  // glob over ids
  std::string reason;
  int line = 0;
};

/// A target file, read and checked.
struct Target {
  std::string name;
  std::map<std::string, Json> settings;  // ${region} and the like
  std::set<std::string> has;             // features that cases may need
  std::set<std::string> apis;            // that are judged: "ml", "vertex"
  std::vector<KnownMiss> misses;
  std::map<std::string, Json>
      instances;  // embedded: the config.yaml of each emulator; "" is the main one
};

Result<Target> ReadTarget(const std::string& file);
/// Finds a miss that matches no case: a mistake in the target file.
std::optional<Problem> CheckMisses(const Target& target, const std::string& file,
                                   const std::vector<Case>& cases);
/// The miss that lists a case; nullptr if none does.
const KnownMiss* MissOf(const Target& target, const std::string& id);

/// `*` matches any text, `?` any character.
bool GlobMatches(const std::string& pattern, const std::string& text);

}  // namespace conform
