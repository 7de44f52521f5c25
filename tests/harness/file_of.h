#pragma once
// Scenario files that are gone with the test.

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "base/files.h"
#include "harness/scenario/scenario.h"

namespace caip::harness {

/// The first two lines of a scenario: all that it must have.
inline const std::string kHead = "description: d\ntrainer: {command: [python3, t.py]}\n";

class ScenarioFolder {
 public:
  ScenarioFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "caip-harness-XXXXXX").string();
    path_ = ::mkdtemp(name.data());
  }
  ~ScenarioFolder() { std::filesystem::remove_all(path_); }
  ScenarioFolder(const ScenarioFolder&) = delete;
  ScenarioFolder& operator=(const ScenarioFolder&) = delete;

  Path Write(const std::string& name, const std::string& text) const {
    const Path file = path_ / name;
    EXPECT_TRUE(WriteFile(file, text).ok());
    return file;
  }
  const Path& path() const { return path_; }

 private:
  Path path_;
};

/// The scenario of a text, or its mistakes with the folder's name left out.
inline Result<Scenario> Read(const std::string& text) {
  const ScenarioFolder folder;
  auto scenario = ReadScenario(folder.Write("s.yaml", text));
  if (scenario.ok()) return scenario;
  std::string message = scenario.error().message;
  const std::string prefix = folder.path().string() + "/";
  for (size_t at = message.find(prefix); at != message.npos; at = message.find(prefix)) {
    message.erase(at, prefix.size());
  }
  return Error{scenario.error().code, message};
}

inline std::string Mistakes(const std::string& text) {
  const auto scenario = Read(text);
  return scenario.ok() ? "" : scenario.error().message;
}

/// Whether the mistakes of a text contain the words.
inline bool Says(const std::string& text, const std::string& what) {
  return Mistakes(text).find(what) != std::string::npos;
}

}  // namespace caip::harness
