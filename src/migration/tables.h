#pragma once
// What the migration replaces, and what differs for the trainer. All of it is data (tables.json,
// with its sources); this class only looks entries up.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace caip::migration {

/// A row of the table of differences. Texts may hold placeholders: "{job}".
struct DifferenceRow {
  std::string when;  // which jobs it applies to: "always", "container", ...
  std::string subject;
  std::string ai_platform;
  std::string vertex;
};

/// The pre-built containers that stand for a runtime version.
struct RuntimeImages {
  std::string runtime;
  std::string cpu;
  std::string gpu;
};

/// Immutable; any thread. The default one lives as long as the process.
class Tables {
 public:
  /// Reads the form of tables.json. The error names the entry that is broken.
  static Result<Tables> Parse(std::string_view json_text);

  const std::vector<DifferenceRow>& differences() const { return differences_; }
  const std::vector<RuntimeImages>& runtimes() const { return runtimes_; }
  /// The Python of all images of runtimes().
  const std::string& python() const { return python_; }

  /// The image for packages of a runtime version, in the registry near a region; nullopt: none.
  std::optional<std::string> ImageOfRuntime(std::string_view runtime, bool has_gpu,
                                            std::string_view region) const;
  /// The image for packages of a pre-built container of AI Platform; nullopt: it is none.
  std::optional<std::string> ImageOfPrebuilt(std::string_view image_uri,
                                             std::string_view region) const;
  /// The machine type that stands for one that Vertex AI does not have; `machine` itself otherwise.
  std::string MachineFor(const std::string& machine) const;

 private:
  friend class TablesReader;
  struct Pair {
    std::string from;
    std::string to;
  };
  std::string Registry(std::string_view region) const;

  std::vector<DifferenceRow> differences_;
  std::vector<RuntimeImages> runtimes_;
  std::string python_;
  std::string prebuilt_prefix_;
  std::string registry_path_;
  std::vector<Pair> registries_;  // by the beginning of a region; the last one has none
  std::vector<Pair> machines_;
};

/// The tables of tables.json, built in.
const Tables& DefaultTables();
/// tables.json; src/migration/module.cmake writes the body.
std::string_view TablesText();

}  // namespace caip::migration
