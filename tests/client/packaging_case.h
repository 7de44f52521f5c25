#pragma once
// A test with a source tree and a cache of built packages.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/files.h"
#include "base/text.h"
#include "client/packaging.h"
#include "host/process/child_process.h"

namespace caip::client {

class Packaging : public ::testing::Test {
 protected:
  void Write(const std::string& file, const std::string& text) {
    ASSERT_TRUE(MakeDirectories((root_ / file).parent_path()).ok());
    ASSERT_TRUE(WriteFile(root_ / file, text).ok());
  }

  Result<PackageFiles> Collect(const std::string& package_path,
                               std::vector<std::string> packages = {}) {
    return CollectPackages(
        {std::move(packages), (root_ / package_path).string(), cache_, false, {}});
  }

  std::vector<std::string> Listing(const Path& archive) {
    const Result<host::ToolOutput> said = host::CaptureTool(
        {.argv = {"tar", "-tzf", archive.string()}, .environment = host::OwnEnvironment()});
    EXPECT_TRUE(said.ok() && said->result.ok()) << archive;
    return Split(Trim(said->out), '\n');
  }

  std::vector<std::string> RootEntries() {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(root_))
      names.push_back(entry.path().filename());
    return names;
  }

  TemporaryDirectory directory_;
  Path root_ = directory_.path() / "src";
  Path cache_ = directory_.path() / "cache";
};

}  // namespace caip::client
