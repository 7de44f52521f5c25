#pragma once
// What is known of the endpoint that is judged: what it has, and which cases it is known to miss.

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "conformance/format/case.h"
#include "conformance/format/document.h"
#include "conformance/result.h"

namespace conform {

/// A case, or all that a glob matches, which the target fails, and why.
struct KnownMiss {
  std::string cases;  // glob over ids
  std::string reason;
  int line = 0;
};

/// A target file, read and checked.
struct Target {
  std::string name;
  std::map<std::string, Json> settings;  // ${region} and the like
  std::set<std::string> has;             // what cases may need
  std::vector<KnownMiss> misses;
  std::map<std::string, Json>
      instances;  // embedded: config.yaml of each emulator; "" is the main one
};

Result<Target> ReadTarget(const std::string& file);
/// A miss that matches no case is a mistake in the target file.
std::optional<Problem> CheckMisses(const Target& target, const std::string& file,
                                   const std::vector<Case>& cases);
/// The miss that a case is listed under.
const KnownMiss* MissOf(const Target& target, const std::string& id);

/// `*` is any text, `?` any one character.
bool GlobMatches(const std::string& pattern, const std::string& text);

}  // namespace conform
