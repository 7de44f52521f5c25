#pragma once
// The sources of this tree, for tests of its structure.

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "places.h"

namespace caip::architecture {

namespace fs = std::filesystem;

inline const fs::path kRoot = CAIP_SOURCE_DIR;
inline const std::vector<std::string> kProduct = {"src", "fakes", "emulator", "conformance"};
inline const std::vector<std::string> kEverything = {"src",         "fakes", "emulator",
                                                     "conformance", "tests", "bench"};

struct SourceFile {
  std::string name;  // relative to the root: "src/run/spec.h"
  std::vector<std::string> lines;
};

/// All .h and .cc files below the folders.
inline std::vector<SourceFile> SourcesBelow(const std::vector<std::string>& folders) {
  std::vector<SourceFile> files;
  for (const std::string& folder : folders) {
    if (!fs::exists(kRoot / folder)) continue;
    for (const auto& entry : fs::recursive_directory_iterator(kRoot / folder)) {
      const std::string extension = entry.path().extension();
      if (extension != ".h" && extension != ".cc") continue;
      SourceFile file{fs::relative(entry.path(), kRoot).string(), {}};
      std::ifstream stream(entry.path());
      for (std::string line; std::getline(stream, line);) file.lines.push_back(line);
      files.push_back(std::move(file));
    }
  }
  return files;
}

/// The line without a `//` comment.
inline std::string CodeOf(const std::string& line) { return line.substr(0, line.find("//")); }

}  // namespace caip::architecture
