// Lines of containers as log entries, and paths of buckets in the words of replicas
// (docs/service/vertex.md, sections 6 and 10).
#include "host/process/container_entry.h"

#include <gtest/gtest.h>

#include <tuple>

#include "host/process/shown_directories.h"

namespace caip::host {
namespace {

using run::Payload;
using run::Severity;

TEST(ContainerEntry, ALineIsATextUnlessItIsAnObject) {
  const std::tuple<std::string, Payload, Severity> rows[] = {
      {"step 1", Payload::kText, Severity::kDefault},
      {"  ", Payload::kText, Severity::kDefault},
      {"ERROR: no", Payload::kText, Severity::kDefault},
      {"[1, 2]", Payload::kText, Severity::kDefault},
      {"{\"step\": 1", Payload::kText, Severity::kDefault},
      {"{1}", Payload::kText, Severity::kDefault},
      {"{}", Payload::kObject, Severity::kDefault},
      {"{\"step\": 1}", Payload::kObject, Severity::kDefault},
      {" {\"severity\": \"WARNING\", \"message\": \"m\"}", Payload::kObject, Severity::kWarning},
      {"{\"severity\": \"warn\"}", Payload::kObject, Severity::kWarning},
      {"{\"severity\": \"Emergency\"}", Payload::kObject, Severity::kEmergency},
      {"{\"severity\": \"LOUD\"}", Payload::kObject, Severity::kDefault},
      {"{\"severity\": 500}", Payload::kObject, Severity::kDefault},
  };
  for (const auto& [line, payload, severity] : rows) {
    const auto entry = ContainerEntry(line);
    ASSERT_TRUE(entry.has_value()) << line;
    EXPECT_EQ(entry->payload, payload) << line;
    EXPECT_EQ(entry->severity, severity) << line;
    EXPECT_EQ(entry->message, line);
  }
}

TEST(ContainerEntry, AnEmptyLineIsNone) {
  EXPECT_FALSE(ContainerEntry("").has_value());
  EXPECT_FALSE(ContainerEntry("\r").has_value());
  EXPECT_EQ(ContainerEntry("a\r")->message, "a");
}

TEST(BucketPaths, AreFoundWhereAPathBegins) {
  const std::pair<const char*, const char*> rows[] = {
      {"/gcs/b/x", "/state/buckets/b/x"},
      {"--data=/gcs/b/x,/gcs/c", "--data=/state/buckets/b/x,/state/buckets/c"},
      {"pip3 install /gcs/b/t.tgz && cat '/gcs/b/y'",
       "pip3 install /state/buckets/b/t.tgz && cat '/state/buckets/b/y'"},
      {"/a:/gcs/b", "/a:/state/buckets/b"},
      {"gs://gcs/b", "gs://gcs/b"},
      {"/data/gcs/b", "/data/gcs/b"},
      {"/gcsx/b", "/gcsx/b"},
      {"/gcs", "/gcs"},
      {"", ""},
  };
  for (const auto& [text, wanted] : rows) {
    EXPECT_EQ(WithBucketPaths(text, "/gcs", "/state/buckets"), wanted) << text;
  }
}

TEST(BucketPaths, AreReplacedInTheProgramAndInVariables) {
  engine::ReplicaLaunch launch;
  launch.buckets_at = "/gcs";
  launch.program = run::ContainerImage{
      .uri = "i", .entrypoint = {"sh"}, .command = {"cat", "/gcs/b/a"}, .args = {"/gcs/b/c"}};
  launch.arguments = {"--out=/gcs/b/o"};
  launch.environment = {{"DATA", "/gcs/b/d"}, {"CLUSTER_SPEC", "{\"x\":\"/gcs/b\"}"}};
  EXPECT_TRUE(ReplaceBucketPaths(launch, "/s"));
  const auto& image = std::get<run::ContainerImage>(launch.program);
  EXPECT_EQ(image.command.back(), "/s/b/a");
  EXPECT_EQ(image.args.back(), "/s/b/c");
  EXPECT_EQ(launch.arguments.back(), "--out=/s/b/o");
  EXPECT_EQ(launch.environment[0].second, "/s/b/d");
  EXPECT_EQ(launch.environment[1].second, "{\"x\":\"/gcs/b\"}") << "JSON keeps its bytes";
  launch.environment.clear();
  EXPECT_FALSE(ReplaceBucketPaths(launch, "/s")) << "nothing is left to replace";
}

TEST(MountPaths, AreReplacedWithTheMountItself) {
  const std::pair<const char*, const char*> rows[] = {
      {"/mnt/nfs/data", "/srv/nfs"},
      {"--data=/mnt/nfs/data,/mnt/nfs/data/x", "--data=/srv/nfs,/srv/nfs/x"},
      {"ls /mnt/nfs/data && cat '/mnt/nfs/data/y'", "ls /srv/nfs && cat '/srv/nfs/y'"},
      {"/mnt/nfs/data2", "/mnt/nfs/data2"},
      {"/mnt/nfs/data.old", "/mnt/nfs/data.old"},
      {"/a/mnt/nfs/data", "/a/mnt/nfs/data"},
      {"gs:/mnt/nfs/data", "gs:/srv/nfs"},
      {"", ""},
  };
  for (const auto& [text, wanted] : rows) {
    EXPECT_EQ(WithMountPaths(text, {"/srv/nfs", "/mnt/nfs/data"}), wanted) << text;
  }
}

TEST(MountPaths, AreVolumesOfAReplicaWithFilesOfItsOwn) {
  engine::ReplicaLaunch launch;
  launch.arguments = {"--data=/mnt/nfs/data"};
  launch.mounts = {{"/srv/nfs", "/mnt/nfs/data"}, {"/srv/other", "/mnt/nfs/other"}};
  EXPECT_TRUE(ShowDirectories("/s", true, launch).empty());
  EXPECT_EQ(launch.volumes, (std::vector<engine::Volume>{{"/srv/nfs", "/mnt/nfs/data"},
                                                         {"/srv/other", "/mnt/nfs/other"}}));
  EXPECT_EQ(launch.arguments.back(), "--data=/mnt/nfs/data");
  const auto remarks = ShowDirectories("/s", false, launch);
  ASSERT_EQ(remarks.size(), 1u) << "the other one is not used";
  EXPECT_NE(remarks.front().message.find("/mnt/nfs/data does not exist"), std::string::npos);
  EXPECT_EQ(launch.arguments.back(), "--data=/srv/nfs");
}

TEST(MountPaths, NeedDirectories) {
  EXPECT_TRUE(CheckMounts({}).ok());
  EXPECT_TRUE(CheckMounts({{"/", "/mnt/nfs/a"}}).ok());
  const Status missing = CheckMounts({{"/", "/mnt/nfs/a"}, {"/caip-absent", "/mnt/nfs/b"}});
  ASSERT_FALSE(missing.ok());
  EXPECT_NE(missing.error().message.find("'/caip-absent' does not exist"), std::string::npos);
  EXPECT_FALSE(CheckMounts({{"/dev/null", "/mnt/nfs/a"}}).ok()) << "a file";
  const Status unmapped = CheckMounts({{"", "/mnt/nfs/a"}});
  ASSERT_FALSE(unmapped.ok());
  EXPECT_NE(unmapped.error().message.find("nfs_exports"), std::string::npos);
}

TEST(BucketPaths, AreAMountForAReplicaWithFilesOfItsOwn) {
  engine::ReplicaLaunch launch;
  launch.arguments = {"/gcs/b/c"};
  EXPECT_TRUE(ShowDirectories("/s", true, launch).empty());
  EXPECT_TRUE(launch.volumes.empty()) << "the API shows none";
  launch.buckets_at = "/gcs";
  EXPECT_TRUE(ShowDirectories("/s", true, launch).empty());
  ASSERT_EQ(launch.volumes.size(), 1u);
  EXPECT_EQ(launch.volumes.front(), (engine::Volume{"/s/buckets", "/gcs"}));
  EXPECT_EQ(launch.arguments.back(), "/gcs/b/c");
  const auto remarks = ShowDirectories("/s", false, launch);
  ASSERT_EQ(remarks.size(), 1u);
  EXPECT_EQ(remarks.front().severity, engine::Severity::kWarning);
  EXPECT_EQ(launch.arguments.back(), "/s/buckets/b/c");
}

}  // namespace
}  // namespace caip::host
