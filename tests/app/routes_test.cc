// The tables of docs/api.md are the route tables of a running emulator.
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <set>

#include "base/json.h"
#include "emulator/api/discovery/api_description.h"
#include "emulator/app/emulator.h"
#include "http/client.h"
#include "places.h"

namespace caip::app {
namespace {

std::string TitleOf(const std::string& group) {
  const std::map<std::string, std::string> titles = {
      {"ml", "ml.googleapis.com v1"},
      {"aiplatform", "aiplatform.googleapis.com v1 and v1beta1"},
      {"storage", "Cloud Storage JSON API v1"},
      {"xml", "Cloud Storage XML API"},
      {"logging", "Cloud Logging v2"},
      {"registry", "Container registry"},
      {"discovery", "Discovery"},
      {"emulator", "caip's own"}};
  const auto title = titles.find(group);
  return title == titles.end() ? group : title->second;
}

// The route tables of a running emulator.
Json RoutesOfAnEmulator() {
  const TemporaryDirectory directory;
  EmulatorOptions options;
  options.state = directory.path() / "state";
  options.port = 0;
  options.address = "127.0.0.1";
  const auto emulator = Emulator::Start(options, {});
  EXPECT_TRUE(emulator.ok()) << (emulator.ok() ? "" : emulator.error().message);
  if (!emulator.ok()) return Json::array();
  http::Client client((*emulator)->base_url());
  const auto answer = client.Send({.target = "/emulator/v1/routes"});
  EXPECT_TRUE(answer.ok());
  const auto json = answer.ok() ? ParseJson(answer->body) : Json();
  (*emulator)->Stop();
  return json.ok() ? (*json)["routes"] : Json::array();
}

// The page: `head`, which is hand-written, and a table for each group of routes.
std::string Document(const std::string& head, const Json& routes) {
  std::map<std::string, std::string> tables;
  std::vector<std::string> groups = {"ml",      "aiplatform", "storage",   "xml",
                                     "logging", "registry",   "discovery", "emulator"};
  for (const auto& route : routes) {
    const std::string id = route["id"];
    const std::string pattern = route["pattern"];
    const std::string group = id.substr(0, id.find('.'));
    const bool alias = group == "storage" && !pattern.starts_with("/storage/") &&
                       !pattern.starts_with("/upload/") && !pattern.starts_with("/resumable/") &&
                       !pattern.starts_with("/download/") && !pattern.starts_with("/batch/");
    if (alias) continue;
    if (std::find(groups.begin(), groups.end(), group) == groups.end()) groups.push_back(group);
    tables[group] += "| `" + id.substr(id.find('.') + 1) + "` | `" +
                     route["method"].get<std::string>() + " " + pattern + "` | " +
                     (route["emulated"].get<bool>() ? "" : "not emulated ") + "|\n";
  }
  std::string text = head;
  for (const std::string& group : groups) {
    if (tables[group].empty()) continue;
    text += "\n## " + TitleOf(group) + "\n\n| method | call | |\n|---|---|---|\n" + tables[group];
  }
  return text;
}

TEST(Routes, AreThoseOfTheDocumentation) {
  const Path file = Path(CAIP_SOURCE_DIR) / "docs/api.md";
  const auto written = ReadFile(file);
  ASSERT_TRUE(written.ok()) << file;
  const std::string head = written->substr(0, written->find("\n## "));
  const std::string text = Document(head, RoutesOfAnEmulator());
  if (const char* update = std::getenv("UPDATE_GOLDEN"); update && std::string(update) == "1") {
    ASSERT_TRUE(WriteFile(file, text).ok());
    return;
  }
  EXPECT_EQ(text, *written) << "differs from " << file << "; UPDATE_GOLDEN=1 rewrites it";
}

TEST(Routes, OfGooglesApisAreDescribedOnesWhereClientsBuildOnDiscovery) {
  std::set<std::string> served;
  for (const auto& route : RoutesOfAnEmulator()) served.insert(route["id"]);
  for (const auto& method : api::ApiDescription::Ml().methods()) {
    EXPECT_TRUE(served.contains(method.id)) << method.id;
  }
  for (const char* id : {"storage.objects.get", "storage.objects.insert", "storage.buckets.list",
                         "logging.entries.list", "logging.entries.write"}) {
    EXPECT_TRUE(served.contains(id)) << id;
    EXPECT_NE(api::ApiDescription::Of(id)->Find(id), nullptr) << id;
  }
}

}  // namespace
}  // namespace caip::app
