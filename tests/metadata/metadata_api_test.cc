#include "fakes/metadata/metadata_api.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>

#include "base/abandoned_work.h"
#include "tests/metadata/metadata_world.h"

namespace caip::metadata {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr char kV1[] = "/computeMetadata/v1/";

TEST(MetadataServer, PingNamesItsFlavorWithoutBeingAsked) {
  MetadataWorld world;
  const auto answer = world.Get("/", {});
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.headers.Get("Metadata-Flavor"), "Google");
  EXPECT_EQ(answer.body, "computeMetadata/\n");
}

TEST(MetadataServer, RefusesWhoeverDoesNotNameTheFlavor) {
  MetadataWorld world;
  const std::string path = std::string(kV1) + "project/project-id";
  EXPECT_EQ(world.Get(path, {}).status, 403);
  EXPECT_EQ(world.Get(path, {{"Metadata-Flavor", "Vanilla"}}).status, 403);
  EXPECT_EQ(world.Get(path, {{"Metadata-Flavor", "Google"}}).status, 200);
  EXPECT_EQ(world.Get(path, {{"X-Google-Metadata-Request", "True"}}).status, 200);
}

TEST(MetadataServer, RefusesForwardedRequests) {
  MetadataWorld world;
  const auto answer = world.Get(std::string(kV1) + "project/project-id",
                                {{"Metadata-Flavor", "Google"}, {"X-Forwarded-For", "10.0.0.1"}});
  EXPECT_EQ(answer.status, 403);
  EXPECT_EQ(answer.headers.Get("Metadata-Flavor"), "Google");
}

TEST(MetadataServer, OnlyReads) {
  MetadataWorld world;
  const auto answer =
      world.Get(std::string(kV1) + "project/project-id", {{"Metadata-Flavor", "Google"}}, "POST");
  EXPECT_EQ(answer.status, 405);
  EXPECT_EQ(answer.headers.Get("Allow"), "GET, HEAD");
}

TEST(MetadataServer, TellsProjectAndMachine) {
  MetadataWorld world;
  const std::pair<const char*, const char*> rows[] = {
      {"project/project-id", "demo-project"},
      {"project/numeric-project-id", "123456789012"},
      {"project/attributes/ssh-keys", "none"},
      {"instance/id", "4711"},
      {"instance/name", "cmle-training-worker-e118e0f997-1"},
      {"instance/hostname", "cmle-training-worker-e118e0f997-1.c.demo-project.internal"},
      {"instance/zone", "projects/123456789012/zones/us-central1-b"},
      {"instance/machine-type", "projects/123456789012/machineTypes/n1-standard-4"},
      {"instance/maintenance-event", "NONE"},
      {"instance/preempted", "FALSE"},
      {"instance/scheduling/on-host-maintenance", "MIGRATE"},
      {"instance/attributes/job-name", "census_1"},
      {"instance/attributes/a%2Fb%20c", "slash & blank"},
      {"instance/disks/0/mode", "READ_WRITE"},
      {"instance/network-interfaces/0/ip", "127.0.0.1"},
      {"universe/universe-domain", "googleapis.com"},
      {"universe/universe_domain", "googleapis.com"},
  };
  for (const auto& [path, value] : rows) {
    const auto answer = world.Get(std::string(kV1) + path);
    EXPECT_EQ(answer.status, 200) << path;
    EXPECT_EQ(answer.body, value) << path;
    EXPECT_EQ(answer.headers.Get("Content-Type"), "application/text") << path;
    EXPECT_EQ(answer.headers.Get("ETag").size(), 16u) << path;
  }
}

TEST(MetadataServer, ListsDirectoriesBehindTheirSlash) {
  MetadataWorld world;
  EXPECT_EQ(world.Text(""), "instance/\noslogin/\nproject/\nuniverse/\n");
  EXPECT_EQ(world.Text("project/"), "attributes/\nnumeric-project-id\nproject-id\n");
  EXPECT_EQ(world.Text("instance/service-accounts/"),
            "trainer@demo-project.iam.gserviceaccount.com/\ndefault/\n");
  EXPECT_EQ(world.Text("instance/service-accounts/default/"),
            "aliases\nemail\nidentity\nscopes\ntoken\n");
  EXPECT_EQ(world.Parsed("project/?alt=json"),
            Json({"attributes/", "numeric-project-id", "project-id"}));
}

TEST(MetadataServer, SendsThoseWhoForgetTheSlashToTheDirectory) {
  MetadataWorld world;
  const auto answer = world.Get("/computeMetadata/v1/instance?recursive=true&alt=text");
  EXPECT_EQ(answer.status, 301);
  EXPECT_EQ(answer.headers.Get("Location"),
            "http://127.0.0.1:2247/computeMetadata/v1/instance/?recursive=true&alt=text");
  EXPECT_EQ(world.Get("/computeMetadata").status, 301);
  EXPECT_EQ(world.Get("/computeMetadata/v1").status, 301);
}

TEST(MetadataServer, KnowsNothingElse) {
  MetadataWorld world;
  for (const char* path :
       {"/computeMetadata/v2/", "/computeMetadata/v1/nothing", "/computeMetadata/v1/instance/id/",
        "/computeMetadata/v1//instance/", "/computeMetadata/v1/instance/disks/1/mode",
        "/computeMetadata/v1/instance/service-accounts/nobody@x/token",
        "/computeMetadata/v1/instance/%zz"}) {
    const auto answer = world.Get(path);
    EXPECT_EQ(answer.status, 404) << path;
    EXPECT_EQ(answer.headers.Get("Metadata-Flavor"), "Google") << path;
  }
  EXPECT_THAT(world.Text("<script>"), HasSubstr("&lt;script&gt;"));
}

TEST(MetadataServer, NamesOfOursAreCamelCaseInJsonAndThoseOfUsersAreNot) {
  MetadataWorld world;
  const Json all = world.Parsed("?recursive=true");
  EXPECT_EQ(all["project"]["projectId"], "demo-project");
  EXPECT_EQ(all["project"]["numericProjectId"], 123456789012);
  EXPECT_EQ(all["project"]["attributes"]["ssh-keys"], "none");
  EXPECT_EQ(all["instance"]["attributes"]["a/b c"], "slash & blank");
  EXPECT_EQ(all["instance"]["networkInterfaces"][0]["ip"], "127.0.0.1");
  EXPECT_EQ(all["instance"]["disks"][0]["index"], 0);
  EXPECT_EQ(all["instance"]["tags"], Json({"bread", "butter"}));
  EXPECT_EQ(all["instance"]["maintenanceEvent"], "NONE");
}

TEST(MetadataServer, ShowsAnAccountWithoutItsTokens) {
  MetadataWorld world;
  const Json expected = {{"aliases", {"default"}},
                         {"email", "trainer@demo-project.iam.gserviceaccount.com"},
                         {"scopes", {kCloudPlatformScope}}};
  EXPECT_EQ(world.Parsed("instance/service-accounts/default/?recursive=true"), expected);
  EXPECT_EQ(world.Text("instance/service-accounts/default/scopes"),
            std::string(kCloudPlatformScope) + "\n");
}

TEST(MetadataServer, WritesTextAndJsonAsAsked) {
  MetadataWorld world;
  EXPECT_EQ(world.Text("instance/tags"), R"(["bread","butter"])");
  EXPECT_EQ(world.Text("instance/tags?alt=text"), "bread\nbutter\n");
  EXPECT_EQ(world.Text("instance/zone?alt=json"), R"("projects/123456789012/zones/us-central1-b")");
  EXPECT_EQ(world.Text("instance/disks/?recursive=true&alt=text"),
            "0/device-name persistent-disk-0\n0/index 0\n0/interface SCSI\n0/mode READ_WRITE\n"
            "0/type PERSISTENT\n");
  EXPECT_EQ(world.Get(std::string(kV1) + "instance/tags?alt=xml").status, 400);
}

TEST(MetadataServer, AMachineWithoutAnAccountHasNoToken) {
  MetadataWorld world;
  world.book.Change(world.kReplica, [](Machine& machine) { machine.service_account = ""; });
  EXPECT_EQ(world.Text("instance/service-accounts/"), "");
  EXPECT_EQ(world.Get(std::string(kV1) + "instance/service-accounts/default/token").status, 404);
}

TEST(MetadataServer, WaitsForAChange) {
  MetadataWorld world;
  const std::string path = std::string(kV1) + "instance/maintenance-event";
  const std::string etag(world.Get(path).headers.Get("ETag"));
  auto waiting = std::async(std::launch::async, [&] {
    return world.Get(path + "?wait_for_change=true&last_etag=" + etag);
  });
  // Neither a change of something else nor one of another machine ends the wait.
  world.book.Change(world.kReplica, [](Machine& machine) { machine.attributes["x"] = "y"; });
  world.book.Change("", [](Machine& machine) { machine.maintenance_event = "OTHER"; });
  world.book.Change(world.kReplica, [](Machine& machine) {
    machine.maintenance_event = "MIGRATE_ON_HOST_MAINTENANCE";
  });
  const auto answer = waiting.get();
  EXPECT_EQ(answer.body, "MIGRATE_ON_HOST_MAINTENANCE");
  EXPECT_NE(answer.headers.Get("ETag"), etag);
}

TEST(MetadataServer, DoesNotWaitForAChangeThatWas) {
  MetadataWorld world;
  const auto answer =
      world.Get(std::string(kV1) + "instance/tags?wait_for_change=true&last_etag=0");
  EXPECT_EQ(answer.body, R"(["bread","butter"])");
}

TEST(MetadataServer, AnswersWithWhatThereIsWhenTheTimeIsOver) {
  MetadataWorld world;
  const std::string path = std::string(kV1) + "instance/attributes/";
  EXPECT_EQ(world.Get(path + "?recursive=true&wait_for_change=true&timeout_sec=0").body,
            R"({"a/b c":"slash & blank","job-name":"census_1"})");
  EXPECT_EQ(world.Get(path + "?wait_for_change=true&timeout_sec=soon").status, 400);
  EXPECT_EQ(world.Get(path + "?wait_for_change=true&timeout_sec=-1").status, 400);
}

TEST(MetadataServer, SendsWaitersAwayWhenTheMachineGoes) {
  MetadataWorld world;
  const std::string path = std::string(kV1) + "instance/tags?wait_for_change=true";
  auto waiting = std::async(std::launch::async, [&] { return world.Get(path).status; });
  world.book.Remove(world.kReplica);
  EXPECT_EQ(waiting.get(), 503);
}

TEST(MetadataServer, DoesNotWaitForAClientThatHasGone) {
  MetadataWorld world;
  const AbandonableWork gone([] { return true; });
  EXPECT_EQ(world.Get(std::string(kV1) + "instance/tags?wait_for_change=true").status, 503);
}

TEST(MetadataServer, SendsWaitersAwayWhenItEnds) {
  MetadataWorld world;
  const std::string path = std::string(kV1) + "instance/tags?wait_for_change=true";
  auto waiting = std::async(std::launch::async, [&] { return world.Get(path).status; });
  world.book.Close();
  EXPECT_EQ(waiting.get(), 503);
  EXPECT_EQ(world.Get(path).status, 503);
}

TEST(MetadataServer, IsMeantByPathByNameAndByPing) {
  http::TextBody nothing("");
  const auto meant = [&](const std::string& path, const std::string& host, bool flavor) {
    http::Request request = ARequest("GET", path, &nothing);
    request.host = host;
    if (flavor) request.headers.Set("Metadata-Flavor", "Google");
    return IsMetadataRequest(request);
  };
  EXPECT_TRUE(meant("/computeMetadata/v1/", "127.0.0.1:2247", false));
  EXPECT_TRUE(meant("/", "127.0.0.1:2247", true));
  EXPECT_TRUE(meant("/", "metadata.google.internal", false));
  EXPECT_TRUE(meant("/anything", "169.254.169.254", false));
  EXPECT_FALSE(meant("/", "127.0.0.1:2247", false));
  EXPECT_FALSE(meant("/computeMetadataOfMine", "localhost", true));
}

}  // namespace
}  // namespace caip::metadata
