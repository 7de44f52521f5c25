#include "host/machine/host_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/stat.h>

#include <set>

namespace caip::host {
namespace {

using testing::HasSubstr;
using Found = HostFact::Found;

const HostFact* Find(const std::vector<HostFact>& facts, const std::string& name) {
  for (const HostFact& fact : facts) {
    if (fact.name == name) return &fact;
  }
  return nullptr;
}

class HostReportTest : public testing::Test {
 protected:
  void WriteTool(const std::string& name, const std::string& body) {
    const Path path = root_.path() / name;
    ASSERT_TRUE(WriteFile(path, "#!/bin/sh\n" + body + "\n").ok());
    ::chmod(path.c_str(), 0755);
  }
  std::vector<HostFact> Report() {
    HostReportOptions options;
    options.state = root_.path() / "not" / "made" / "yet";
    options.path = root_.path().string();
    options.devices = {"libno-such-nvml.so.1", root_.path().string(), root_.path() / "proc",
                       root_.path() / "dev"};
    options.pythons = {"3.7", "3.98"};
    Interpreters interpreters({}, {});
    return ReportHost(options, interpreters);
  }
  TemporaryDirectory root_;
};

TEST_F(HostReportTest, NamesWhatIsMissingAndWhatItCosts) {
  const auto facts = Report();
  for (const char* name : {"gpu", "tpu", "gcloud", "gsutil", "python 3.98"}) {
    const HostFact* fact = Find(facts, name);
    ASSERT_NE(fact, nullptr) << name;
    EXPECT_EQ(fact->found, Found::kNo) << name << ": " << fact->detail;
    EXPECT_NE(fact->cost_when_missing, "") << name;
  }
  for (const char* name :
       {"user namespaces", "pid namespaces", "mount namespaces", "isolation", "machine limits",
        "watched replicas", "libfaketime", "loopback addresses", "disk space"}) {
    const HostFact* fact = Find(facts, name);
    ASSERT_NE(fact, nullptr) << name;
    EXPECT_NE(fact->detail, "") << name;
    EXPECT_EQ(fact->found == Found::kYes, fact->cost_when_missing.empty()) << name;
  }
  EXPECT_FALSE(std::filesystem::exists(root_.path() / "not"));
}

TEST_F(HostReportTest, ATwinNameOccursOnlyOnce) {
  std::set<std::string> names;
  for (const HostFact& fact : Report()) {
    if (!fact.name.starts_with("python")) {
      EXPECT_TRUE(names.insert(fact.name).second) << fact.name;
    }
  }
}

TEST_F(HostReportTest, NamesContainerEnginesButNothingThatIsNeverUsed) {
  for (const char* name : {"gcloud", "podman"}) WriteTool(name, "echo must not be run; exit 1");
  const auto facts = Report();
  EXPECT_EQ(Find(facts, "gcloud")->found, Found::kYes);
  EXPECT_EQ(Find(facts, "podman")->detail, (root_.path() / "podman").string());
  EXPECT_THAT(Find(facts, "docker")->cost_when_missing, HasSubstr("--container-engine docker"));
  for (const char* name : {"crun", "runc", "bwrap", "skopeo"}) {
    EXPECT_EQ(Find(facts, name), nullptr) << name;
  }
}

TEST_F(HostReportTest, DevicesAreListedOneByOne) {
  WriteTool("nvidia-smi", "echo '0, GPU-a, Tesla T4, 15360, 00000000:00:04.0'");
  const auto facts = Report();
  ASSERT_NE(Find(facts, "gpu 0"), nullptr);
  EXPECT_EQ(Find(facts, "gpu 0")->detail, "Tesla T4, 15360 MiB, GPU-a (by nvidia-smi)");
  EXPECT_EQ(Find(facts, "gpu"), nullptr);
}

TEST(TryNamespaces, SaysWhyNot) {
  EXPECT_EQ(TryNamespaces(0), std::nullopt);
  // A thread without shared memory is a contradiction that every kernel refuses.
  EXPECT_NE(TryNamespaces(CLONE_THREAD), std::nullopt);
}

}  // namespace
}  // namespace caip::host
