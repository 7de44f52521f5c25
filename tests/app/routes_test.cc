// docs/api.md lists what is served, and a running emulator is who says it.
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <set>

#include "base/json.h"
#include "emulator/api/api_description.h"
#include "emulator/app/emulator.h"
#include "http/client.h"
#include "places.h"

namespace caip::app {
namespace {

constexpr const char* kHead =
    "# The APIs\n\n"
    "Everything that one port serves, made from the route tables (`tests/app/routes_test.cc`; "
    "`UPDATE_GOLDEN=1`\nrewrites it, `GET /emulator/v1/routes` tells it of a running emulator). "
    "501: the service has the method, and\nhere it answers `UNIMPLEMENTED` with its name. "
    "Beside these: `HEAD` wherever there is `GET`, the paths of\n`/storage/v1` below `/b` and "
    "`/projects` too (what `STORAGE_EMULATOR_HOST` makes Node and others ask), the same\nport as "
    "TLS, and as an https proxy for the names it serves; Cloud Storage's XML API at all other "
    "paths, and the metadata\nserver's below `/computeMetadata`.\n\n"
    "All JSON methods of Google's APIs take the standard parameters: `fields` (partial responses; "
    "a path that the\nmessage has not is a 400), `prettyPrint`, `alt=json` (`media` where there is "
    "media; `proto` is refused),\n`$.xgafv`, `key`, `quotaUser`, `access_token`, `oauth_token`, "
    "`uploadType`, `upload_protocol`. `callback` (JSONP)\nis refused. ml refuses query parameters "
    "that a method has not, as the service does, and knows\neach by both its names (`pageSize`, "
    "`page_size`); storage and batches pass over them. A project is what gcloud takes\nfor a "
    "project's id, or a number; any other is 403 `PERMISSION_DENIED`. A body above 16 MiB is "
    "400.\n";

std::string TitleOf(const std::string& group) {
  const std::map<std::string, std::string> titles = {
      {"ml", "ml.googleapis.com v1"},   {"storage", "Cloud Storage JSON API v1"},
      {"xml", "Cloud Storage XML API"}, {"logging", "Cloud Logging v2"},
      {"discovery", "Discovery"},       {"emulator", "caip's own"}};
  const auto title = titles.find(group);
  return title == titles.end() ? group : title->second;
}

// The route tables of an emulator that runs.
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

std::string Document(const Json& routes) {
  std::map<std::string, std::string> tables;
  std::vector<std::string> groups = {"ml", "storage", "xml", "logging", "discovery", "emulator"};
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
                     (route["emulated"].get<bool>() ? "" : "501 ") + "|\n";
  }
  std::string text = kHead;
  for (const std::string& group : groups) {
    if (tables[group].empty()) continue;
    text += "\n## " + TitleOf(group) + "\n\n| method | call | |\n|---|---|---|\n" + tables[group];
  }
  return text;
}

TEST(Routes, AreThoseOfTheDocumentation) {
  const std::string text = Document(RoutesOfAnEmulator());
  const Path file = Path(CAIP_SOURCE_DIR) / "docs/api.md";
  if (const char* update = std::getenv("UPDATE_GOLDEN"); update && std::string(update) == "1") {
    ASSERT_TRUE(WriteFile(file, text).ok());
    return;
  }
  const auto written = ReadFile(file);
  ASSERT_TRUE(written.ok()) << file;
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
