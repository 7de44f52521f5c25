#pragma once
// Golden files: what a rendering must look like, kept as a file that a person can read and review.

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "places.h"

namespace caip::testing {

/// Compares `text` with tests/golden/<name>. With UPDATE_GOLDEN=1 in the environment the file is
/// rewritten instead: look at the difference before you commit it.
inline void ExpectGolden(const std::string& name, const std::string& text) {
  const std::filesystem::path path = std::filesystem::path(CAIP_SOURCE_DIR) / "tests/golden" / name;
  if (const char* update = std::getenv("UPDATE_GOLDEN"); update && std::string(update) == "1") {
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << text;
    return;
  }
  std::ifstream file(path, std::ios::binary);
  ASSERT_TRUE(file.good()) << path << " is missing; UPDATE_GOLDEN=1 writes it";
  std::stringstream wanted;
  wanted << file.rdbuf();
  EXPECT_EQ(text, wanted.str()) << "differs from " << path << "; UPDATE_GOLDEN=1 rewrites it";
}

}  // namespace caip::testing
