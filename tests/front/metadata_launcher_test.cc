#include "emulator/front/metadata_launcher.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "fakes/metadata/metadata_api.h"
#include "http/client.h"

namespace caip::front {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

struct Launched {
  std::vector<engine::ReplicaLaunch> launches;
  std::set<engine::RunKey> discarded;
};

// Records launches and starts no process.
class RecordingLauncher final : public engine::Launcher {
 public:
  Result<run::Program> Resolve(const run::Program& program) const override { return program; }
  explicit RecordingLauncher(Launched& launched) : launched_(launched) {}
  void Launch(engine::ReplicaLaunch launch, Listener) override {
    launched_.launches.push_back(std::move(launch));
  }
  void Signal(const engine::ReplicaKey&, int) override {}
  void Kill(const engine::ReplicaKey&) override {}
  void Discard(const engine::RunKey& run) override { launched_.discarded.insert(run); }

 private:
  Launched& launched_;
};

// Knows one connection, the worker's.
class FakeMachines final : public host::OwnMachines {
 public:
  std::string SharedAddress() const override { return "10.128.0.1"; }
  std::string HostAddress() const override { return "10.128.255.254"; }
  void SetEndpointHandler(host::EndpointHandler) override {}
  void MakeAhead(const engine::RunKey&, std::shared_ptr<const engine::RunNetwork> network,
                 std::vector<std::string> addresses) override {
    networks.push_back(std::move(network));
    made.push_back(std::move(addresses));
  }
  std::vector<std::shared_ptr<const engine::RunNetwork>> networks;
  std::vector<std::vector<std::string>> made;
};

struct MetadataWorld {
  static inline const run::ReplicaId kWorker{"worker", 1};

  TemporaryDirectory directory;
  SystemClock wall;
  std::unique_ptr<metadata::TokenMint> mint =
      *metadata::TokenMint::Open(directory.path() / "keys", wall);
  metadata::MachineTable book{metadata::Machine{}};
  metadata::MetadataApi api{book, *mint};
  std::unique_ptr<http::Server> server = *http::Server::Start(
      {}, [this](const http::Request& r) { return api.Handle(r, r.listener); });
  Launched inner;
  MetadataOptions options{"127.0.0.1", "123", "default@x", std::nullopt};

  MetadataLauncher Launcher() {
    return {std::make_unique<RecordingLauncher>(inner), {*server, book, *mint, wall}, options};
  }
  engine::RunKey run{"demo", "census_1", ""};

  engine::ReplicaLaunch ALaunch(run::ReplicaId replica = kWorker, int boot = 1) const {
    engine::ReplicaLaunch launch;
    launch.key = {run, replica, boot};
    launch.task = run::Name(replica);
    launch.machine = {
        "cmle-training-worker-e118e0f997-1", "europe-west1", "n1-highmem-8", 100, "", "trainer@x",
        {"127.1.2.3", "127.1.2.4"}};
    launch.environment = {{"PATH", "/bin"}};
    return launch;
  }
  std::map<std::string, std::string> VariablesOf(size_t number) const {
    const auto& list = inner.launches.at(number).environment;
    return {list.begin(), list.end()};
  }
  // "" without an answer.
  static std::string Ask(const std::string& address, const std::string& what) {
    http::Client client("http://" + address);
    http::Headers headers;
    headers.Set("Metadata-Flavor", "Google");
    const auto answer = client.Send({.target = "/computeMetadata/v1/" + what, .headers = headers});
    return answer.ok() ? answer->body : "";
  }
};

TEST(MetadataLauncher, PointsAReplicaToItsOwnMetadataServer) {
  MetadataWorld world;
  MetadataLauncher launcher = world.Launcher();
  launcher.Launch(world.ALaunch(), {});
  const auto variables = world.VariablesOf(0);
  EXPECT_EQ(variables.at("PATH"), "/bin");
  const std::string address = variables.at("GCE_METADATA_HOST");
  EXPECT_EQ(variables.at("GCE_METADATA_IP"), address);
  EXPECT_EQ(variables.at("GCE_METADATA_ROOT"), address);
  EXPECT_EQ(world.Ask(address, "project/project-id"), "demo");
  EXPECT_EQ(world.Ask(address, "instance/name"), "cmle-training-worker-e118e0f997-1");
  EXPECT_EQ(world.Ask(address, "instance/zone"), "projects/123/zones/europe-west1-b");
  EXPECT_EQ(world.Ask(address, "instance/machine-type"), "projects/123/machineTypes/n1-highmem-8");
  EXPECT_EQ(world.Ask(address, "instance/attributes/task_name"), "worker-replica-1");
  EXPECT_EQ(world.Ask(address, "instance/service-accounts/default/email"), "trainer@x");
  const auto token = world.mint->Read(variables.at("GOOGLE_AUTH_TOKEN_FOR_TESTING"));
  ASSERT_TRUE(token);
  EXPECT_EQ(token->identity,
            (metadata::Identity{"trainer@x", "demo", "census_1", "worker-replica-1"}));
}

TEST(MetadataLauncher, UsesTheDefaultAccountForJobsWithoutOne) {
  MetadataWorld world;
  MetadataLauncher launcher = world.Launcher();
  engine::ReplicaLaunch launch = world.ALaunch();
  launch.machine.service_account = "";
  launcher.Launch(launch, {});
  EXPECT_EQ(world.Ask(world.VariablesOf(0).at("GCE_METADATA_HOST"),
                      "instance/service-accounts/default/email"),
            "default@x");
}

TEST(MetadataLauncher, GivesReplicasDifferentListeners) {
  MetadataWorld world;
  MetadataLauncher launcher = world.Launcher();
  launcher.Launch(world.ALaunch(), {});
  launcher.Launch(world.ALaunch({"master", 0}), {});
  EXPECT_NE(world.VariablesOf(0).at("GCE_METADATA_HOST"),
            world.VariablesOf(1).at("GCE_METADATA_HOST"));
}

TEST(MetadataLauncher, KeepsTheListenerAcrossARestartAndChangesTheInstanceId) {
  MetadataWorld world;
  MetadataLauncher launcher = world.Launcher();
  const auto id_after = [&](int boot, bool fresh_disk) {
    engine::ReplicaLaunch launch = world.ALaunch(MetadataWorld::kWorker, boot);
    launch.fresh_disk = fresh_disk;
    launcher.Launch(launch, {});
    return world.Ask(world.VariablesOf(world.inner.launches.size() - 1).at("GCE_METADATA_HOST"),
                     "instance/id");
  };
  const std::string first = id_after(1, true);
  EXPECT_EQ(id_after(2, false), first);
  EXPECT_NE(id_after(3, true), first);
  EXPECT_EQ(world.VariablesOf(0).at("GCE_METADATA_HOST"),
            world.VariablesOf(2).at("GCE_METADATA_HOST"));
}

TEST(MetadataLauncher, ClosesTheListenersWhenTheRunHasEnded) {
  MetadataWorld world;
  MetadataLauncher launcher = world.Launcher();
  launcher.Launch(world.ALaunch(), {});
  const std::string address = world.VariablesOf(0).at("GCE_METADATA_HOST");
  launcher.Discard({"demo", "other", ""});
  EXPECT_EQ(world.Ask(address, "project/project-id"), "demo");
  launcher.Discard(world.run);
  EXPECT_EQ(world.Ask(address, "project/project-id"), "");
  EXPECT_FALSE(world.book.Find(ListenerTag(world.run, MetadataWorld::kWorker)));
  EXPECT_TRUE(world.inner.discarded.contains(world.run));
}

// A run with two machines.
struct NetworkWorld : MetadataWorld {
  static inline const run::ReplicaId kMaster{"master", 0};

  NetworkWorld() {
    options.https = front::HttpsFront{"", "/b.pem", {}};
    options.network =
        ReplicaNetworkOptions{2247,
                              {"storage.googleapis.com"},
                              [] { return std::vector<std::string>{"bkt.storage.googleapis.com"}; },
                              &machines};
  }
  FakeMachines machines;
  engine::ReplicaLaunch InNetwork(run::ReplicaId replica) const {
    engine::ReplicaLaunch launch = ALaunch(replica);
    launch.machine.peers = {{kMaster, "host-master", "10.128.0.2"},
                            {kWorker, "host-worker", "10.128.0.3"}};
    return launch;
  }
};

TEST(ReplicaNetwork, HasTheMetadataServerAtItsRealAddressAndTheEmulatorAtTheHub) {
  NetworkWorld world;
  MetadataLauncher launcher = world.Launcher();
  launcher.Launch(world.InNetwork(MetadataWorld::kWorker), {});
  launcher.Launch(world.InNetwork(NetworkWorld::kMaster), {});
  ASSERT_TRUE(world.inner.launches[0].isolation);
  std::vector<std::string> endpoints;
  for (const auto& address : world.inner.launches[0].isolation->network->endpoints) {
    endpoints.push_back(address.address + ":" + std::to_string(address.port) + " " + address.tag);
  }
  EXPECT_THAT(endpoints, ::testing::ElementsAre(
                             "169.254.169.254:80 demo/census_1//", "10.128.0.1:80 demo/census_1//",
                             "10.128.0.1:443 demo/census_1//", "10.128.0.1:2247 demo/census_1//"));
  EXPECT_EQ(world.inner.launches[0].isolation->network, world.inner.launches[1].isolation->network);
  EXPECT_EQ(world.inner.launches[0].isolation->address, "10.128.0.3");
  EXPECT_EQ(world.inner.launches[1].isolation->address, "10.128.0.2");
  EXPECT_EQ(world.VariablesOf(0).at("https_proxy"), "http://10.128.0.1:2247");
}

TEST(ReplicaNetwork, IsMadeWhileThePackagesAreInstalled) {
  NetworkWorld world;
  MetadataLauncher launcher = world.Launcher();
  launcher.Expect(world.run, {"10.128.0.2:2222", "10.128.0.3:2222"});
  EXPECT_THAT(world.machines.made,
              ::testing::ElementsAre(::testing::ElementsAre("10.128.0.2", "10.128.0.3")));
  launcher.Launch(world.InNetwork(MetadataWorld::kWorker), {});
  EXPECT_EQ(world.machines.networks[0], world.inner.launches[0].isolation->network);
  EXPECT_TRUE(world.book.IsShared("demo/census_1//"));  // the metadata server knows the replicas
}

TEST(ReplicaNetwork, WaitsForTheLaunchWhereFaultsComeFirst) {
  NetworkWorld world;
  world.options.network->makes_ahead = false;
  MetadataLauncher launcher = world.Launcher();
  launcher.Expect(world.run, {"10.128.0.2:2222"});
  EXPECT_THAT(world.machines.made, ::testing::IsEmpty());
}

TEST(ReplicaNetwork, NeedsNamesInsteadOfVariables) {
  NetworkWorld world;
  MetadataLauncher launcher = world.Launcher();
  launcher.Launch(world.InNetwork(MetadataWorld::kWorker), {});
  const std::string& hosts = world.inner.launches[0].isolation->hosts;
  EXPECT_THAT(hosts, HasSubstr("\n10.128.0.1 storage.googleapis.com\n"));
  EXPECT_THAT(hosts, HasSubstr("\n10.128.0.1 bkt.storage.googleapis.com\n"));
  EXPECT_THAT(hosts, HasSubstr("\n10.128.0.2 host-master\n10.128.0.3 host-worker\n"));
  const auto variables = world.VariablesOf(0);
  EXPECT_FALSE(variables.contains("GCE_METADATA_HOST"));
  EXPECT_FALSE(variables.contains("GOOGLE_AUTH_TOKEN_FOR_TESTING"));
  EXPECT_THAT(variables.at("no_proxy"),
              HasSubstr(",host-master,host-worker,10.128.0.1,10.128.255.254,host.caip.internal,"
                        "storage.googleapis.com"));
  EXPECT_EQ(variables.at("CURL_CA_BUNDLE"), kBundleOnMachines) << "all its users can read it";
}

// An image may close directories that lead to the file of the host to its user.
TEST(ReplicaNetwork, ShowsTheAuthoritiesWhereEveryUserReadsThem) {
  NetworkWorld world;
  MetadataLauncher launcher = world.Launcher();
  launcher.Launch(world.InNetwork(MetadataWorld::kWorker), {});
  EXPECT_THAT(world.inner.launches[0].device_nodes,
              ElementsAre(engine::DeviceNode{"/b.pem", kBundleOnMachines, true}));
  for (const auto& [name, value] : world.VariablesOf(0)) EXPECT_NE(value, "/b.pem") << name;
}

TEST(ReplicaNetwork, ShowsNoAuthoritiesWithoutAProxy) {
  NetworkWorld world;
  world.options.https.reset();
  MetadataLauncher launcher = world.Launcher();
  launcher.Launch(world.InNetwork(MetadataWorld::kWorker), {});
  EXPECT_TRUE(world.inner.launches[0].device_nodes.empty());
}

TEST(ReplicaNetwork, PutsTheAuthoritiesInThePlaceOfTheHosts) {
  NetworkWorld world;
  world.options.network->covered = {"/etc/ssl/certs/ca-certificates.crt"};
  MetadataLauncher launcher = world.Launcher();
  launcher.Launch(world.InNetwork(MetadataWorld::kWorker), {});
  const auto& covers = world.inner.launches[0].isolation->covers;
  ASSERT_EQ(covers.size(), 1u);
  EXPECT_EQ(covers[0].file, "/b.pem");
  EXPECT_EQ(covers[0].covered, "/etc/ssl/certs/ca-certificates.crt");
}

TEST(ReplicaNetwork, FindsTheReplicaByItsAddress) {
  NetworkWorld world;
  MetadataLauncher launcher = world.Launcher();
  launcher.Launch(world.InNetwork(MetadataWorld::kWorker), {});
  const std::string shared = RunTag(world.run);
  ASSERT_TRUE(world.book.IsShared(shared));
  EXPECT_EQ(world.book.ResolveListener(shared, "10.128.0.3:5"), "demo/census_1//worker-replica-1");
  EXPECT_EQ(world.book.ResolveListener(shared, "10.128.0.2:6"), "demo/census_1//master-replica-0");
  EXPECT_EQ(world.book.ResolveListener("another", "10.128.0.3:5"), "another");
  launcher.Discard(world.run);
  EXPECT_FALSE(world.book.IsShared(shared));
}

TEST(MetadataLauncher, ClosesAllListenersWhenItIsDestroyed) {
  MetadataWorld world;
  {
    MetadataLauncher launcher = world.Launcher();
    launcher.Launch(world.ALaunch(), {});
  }
  EXPECT_EQ(world.Ask(world.VariablesOf(0).at("GCE_METADATA_HOST"), "project/project-id"), "");
}

TEST(MetadataLauncher, SendsHttpsThroughTheReplicasListenerExceptToPeers) {
  MetadataWorld world;
  world.options.https = front::HttpsFront{"", "/state/ca/bundle.pem", {".corp.example"}};
  MetadataLauncher launcher = world.Launcher();
  launcher.Launch(world.ALaunch(), {});
  const auto variables = world.VariablesOf(0);
  EXPECT_EQ(variables.at("https_proxy"), "http://" + variables.at("GCE_METADATA_HOST"));
  EXPECT_EQ(variables.at("no_proxy"),
            "localhost,127.0.0.1,::1,127.0.0.0/8,127.1.2.3,127.1.2.4,.corp.example");
  EXPECT_EQ(variables.at("no_grpc_proxy"), variables.at("no_proxy"));
  EXPECT_EQ(variables.at("CURL_CA_BUNDLE"), "/state/ca/bundle.pem");
  EXPECT_TRUE(world.inner.launches[0].device_nodes.empty());
  EXPECT_FALSE(variables.contains("http_proxy"));
}

TEST(MetadataLauncher, SetsNoHttpsVariablesWithoutAProxy) {
  MetadataWorld world;
  MetadataLauncher launcher = world.Launcher();
  launcher.Launch(world.ALaunch(), {});
  const auto variables = world.VariablesOf(0);
  EXPECT_FALSE(variables.contains("https_proxy"));
  EXPECT_FALSE(variables.contains("SSL_CERT_FILE"));
}

}  // namespace
}  // namespace caip::front
