#include "host/machine/host_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sched.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <optional>
#include <set>

#include "host/machine/addresses.h"
#include "tests/support/own_network.h"

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

/// A variable of this process that has its earlier value again afterwards.
class VariableForATest {
 public:
  VariableForATest(const char* name, const std::string& value) : name_(name) {
    if (const char* before = std::getenv(name)) before_ = before;
    ::setenv(name, value.c_str(), 1);
  }
  ~VariableForATest() { before_ ? ::setenv(name_, before_->c_str(), 1) : ::unsetenv(name_); }

 private:
  const char* const name_;
  std::optional<std::string> before_;
};

TEST_F(HostReportTest, ReportsDockerWithoutADaemonAsPartlyThere) {
  for (const char* name : {"docker", "podman"}) WriteTool(name, "echo must not be run; exit 1");
  const std::string socket = (root_.path() / "docker.sock").string();
  const VariableForATest host("DOCKER_HOST", "unix://" + socket);
  const auto without = Report();
  EXPECT_EQ(Find(without, "docker")->found, Found::kPartly);
  EXPECT_THAT(Find(without, "docker")->cost_when_missing,
              HasSubstr("its daemon cannot be reached at " + socket +
                        " (No such file or directory); caip runs images without it"));
  EXPECT_EQ(Find(without, "podman")->found, Found::kYes) << "it needs no daemon";
  const Fd listener(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  socket.copy(address.sun_path, sizeof address.sun_path - 1);
  ASSERT_EQ(::bind(listener.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  EXPECT_EQ(Find(Report(), "docker")->found, Found::kPartly) << "nobody listens";
  ASSERT_EQ(::listen(listener.get(), 1), 0);
  EXPECT_EQ(Find(Report(), "docker")->found, Found::kYes);
}

TEST_F(HostReportTest, DoesNotAskDockerOnOtherHosts) {
  WriteTool("docker", "echo must not be run; exit 1");
  {
    const VariableForATest host("DOCKER_HOST", "tcp://192.0.2.1:2375");
    EXPECT_EQ(Find(Report(), "docker")->found, Found::kYes);
  }
  const VariableForATest host("DOCKER_HOST", "");
  const VariableForATest configuration("DOCKER_CONFIG", root_.path().string());
  ASSERT_TRUE(WriteFile(root_.path() / "config.json", R"({"currentContext": "far"})").ok());
  EXPECT_EQ(Find(Report(), "docker")->found, Found::kYes);
}

TEST_F(HostReportTest, DevicesAreListedOneByOne) {
  WriteTool("nvidia-smi", "echo '0, GPU-a, Tesla T4, 15360, 00000000:00:04.0'");
  const auto facts = Report();
  ASSERT_NE(Find(facts, "gpu 0"), nullptr);
  EXPECT_EQ(Find(facts, "gpu 0")->detail, "Tesla T4, 15360 MiB, GPU-a (by nvidia-smi)");
  EXPECT_EQ(Find(facts, "gpu"), nullptr);
}

// In a network with nothing but its loopback interface. 0: as expected.
int ReportLoopbackWhereThePortIsTaken() {
  const HostFact free = ReportLoopback();
  if (free.found != Found::kYes || !free.cost_when_missing.empty()) return 1;
  const Fd server(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in everywhere = {};
  everywhere.sin_family = AF_INET;
  everywhere.sin_port = htons(kTaskPort);
  const auto* address = reinterpret_cast<const sockaddr*>(&everywhere);
  if (::bind(server.get(), address, sizeof everywhere) != 0) return 2;
  if (::listen(server.get(), 1) != 0) return 3;
  const HostFact taken = ReportLoopback();
  if (taken.name != "loopback addresses" || taken.found != Found::kPartly) return 4;
  if (taken.detail != "a program listens on port 2222 of all addresses") return 5;
  const bool names_cost = taken.cost_when_missing.find("localhost:PORT") != std::string::npos;
  return names_cost ? 0 : 6;
}

TEST(ReportLoopback, NamesAProgramThatListensOnPort2222OfAllAddresses) {
  const auto code = RunInOwnNetwork(ReportLoopbackWhereThePortIsTaken);
  if (!code) GTEST_SKIP() << "no network namespaces here";
  EXPECT_EQ(*code, 0);
}

TEST(TryNamespaces, SaysWhyNot) {
  EXPECT_EQ(TryNamespaces(0), std::nullopt);
  // A thread without shared memory is a contradiction that every kernel refuses.
  EXPECT_NE(TryNamespaces(CLONE_THREAD), std::nullopt);
}

}  // namespace
}  // namespace caip::host
