// A job whose master, workers, parameter servers and evaluator have images of their own, on each
// engine that runs containers. An engine that does not work on this host is skipped with the
// reason.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "base/text.h"
#include "tests/support/caip_command.h"
#include "tests/support/engine_on_trial.h"
#include "tests/support/oci_layout.h"

namespace caip::testing {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::EndsWith;
using ::testing::StartsWith;

constexpr const char* kRoles[] = {"master", "worker", "ps", "evaluator"};
constexpr size_t kReplicas = 5;  // two workers

// Each replica serves the name of its image at its own place in CLUSTER_SPEC, asks all replicas of
// it for theirs, and says so. The master ends after all others have, because its end ends them.
constexpr char kProgramOfRole[] = R"sh(#!/bin/sh
peers() { echo "$CLUSTER_SPEC" | grep -o '[^" ]*:2222'; }
ask() { until wget -q -O - "http://$1/$2" 2> /dev/null; do sleep 0.05; done; }
spec() { echo "$CLUSTER_SPEC" | busybox sed "s/.*$1.*/\\1/"; }
index=$(spec '"index": *\([0-9]*\)')
own=$(spec '"ROLE": *\[\([^]]*\)\]' | busybox tr -d '" ' | busybox cut -d, -f$((index + 1)))
mkdir -p /tmp/www
echo 'image of ROLE' > /tmp/www/image
case $own in cmle-*) place=2222;; *) place=$own;; esac
busybox httpd -p "$place" -h /tmp/www || exit 3
echo "ARGS ROLE: $*"
echo "SPEC $CLUSTER_SPEC"
echo "TF $TF_CONFIG"
for peer in $(peers); do echo "HEARD $own of $peer: $(ask $peer image)"; done
echo yes > /tmp/www/done
case ROLE in master) for peer in $(peers); do ask $peer done; done;; *) sleep 600;; esac
)sh";

class RoleImages : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    const TemporaryDirectory base("caip-layer-");
    WriteBusybox(base.path());
    for (const char* place : {"proc", "dev", "sys", "tmp", "root"}) {
      ASSERT_TRUE(MakeDirectories(base.path() / place).ok());
    }
    engine_ = MakeTrial(GetParam());
    const std::string why_not = engine_->Start(base.path());
    if (!why_not.empty()) GTEST_SKIP() << why_not;
    for (const auto& [name, value] : engine_->Environment()) caip_.Set(name, value);
    for (const std::string role : kRoles) MakeImage(base.path(), role);
  }
  void TearDown() override {
    (void)caip_.Run({"stop"});
    EXPECT_TRUE(Eventually([this] { return engine_->Containers().empty(); }))
        << "these containers are left: " << engine_->Containers();
  }

  void MakeImage(const Path& base, const std::string& role) {
    const TemporaryDirectory app("caip-layer-");
    const std::string program = ReplaceAll(kProgramOfRole, "ROLE", role);
    ASSERT_TRUE(WriteFile(app.path() / "train", program).ok());
    std::filesystem::permissions(app.path() / "train", std::filesystem::perms(0755));
    OciLayout& layout = layouts_[role];
    layout.AddLayer(base);
    layout.AddLayer(app.path());
    layout.Finish({{"Entrypoint", {"/train"}}, {"Env", {"PATH=/bin"}}});
  }
  static std::string UriOf(const std::string& role) { return "gcr.io/demo/" + role + ":v1"; }

  /// Submits a job with an image for each role. `more`: of the configuration of the role.
  Transcript Submit(const std::string& job, const std::function<Json(const std::string&)>& more,
                    const std::vector<std::string>& args) {
    Json input = {{"scaleTier", "CUSTOM"},
                  {"workerCount", 2},
                  {"parameterServerCount", 1},
                  {"evaluatorCount", 1}};
    std::vector<std::string> words = {"jobs",
                                      "submit",
                                      "training",
                                      job,
                                      "--region",
                                      "us-central1",
                                      "--stream-logs",
                                      "--config",
                                      Config().string(),
                                      "--container-engine",
                                      GetParam()};
    const std::map<std::string, std::string> keys = {{"ps", "parameterServer"}};
    for (const std::string role : kRoles) {
      const std::string key = keys.contains(role) ? keys.at(role) : role;
      input[key + "Type"] = "n1-standard-4";
      input[key + "Config"] = more(role);
      input[key + "Config"]["imageUri"] = UriOf(role);
      words.insert(words.end(),
                   {"--map-image", UriOf(role) + "=oci:" + layouts_[role].Directory().string()});
    }
    EXPECT_TRUE(WriteFile(Config(), Json({{"trainingInput", input}}).dump()).ok());
    words.insert(words.end(), args.begin(), args.end());
    return caip_.Run(words);
  }
  Path Config() const { return files_.path() / "job.json"; }

  /// The lines that the replicas printed, without the columns before them.
  std::vector<std::string> LinesOf(const std::string& job) const {
    std::vector<std::string> lines;
    for (const std::string& line : Split(caip_.LogOf(job), '\n')) {
      lines.push_back(line.substr(line.rfind('\t') + 1));
    }
    return lines;
  }
  /// The JSON values after this word, of all replicas.
  static std::vector<Json> ValuesAfter(const std::string& word,
                                       const std::vector<std::string>& lines) {
    std::vector<Json> values;
    for (const std::string& line : lines) {
      if (!line.starts_with(word + " {")) continue;
      auto value = ParseJson(line.substr(word.size() + 1));
      EXPECT_TRUE(value.ok()) << line;
      if (value.ok()) values.push_back(*std::move(value));
    }
    return values;
  }

  std::unique_ptr<EngineOnTrial> engine_;  // ends after the emulator
  CaipCommand caip_;
  std::map<std::string, OciLayout> layouts_;
  TemporaryDirectory files_;
};

TEST_P(RoleImages, RunOnTheReplicasOfTheirRolesWhichReachEachOther) {
  const auto words_of_role = [](const std::string& role) {
    return Json({{"containerArgs", {"--only", role}}});
  };
  const Transcript run = Submit("roles", words_of_role, {});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const std::vector<std::string> lines = LinesOf("roles");
  const std::vector<Json> specs = ValuesAfter("SPEC", lines);
  ASSERT_EQ(specs.size(), kReplicas) << run.err;
  const Json& cluster = specs[0]["cluster"];
  for (const std::string role : kRoles) {
    const size_t replicas = role == "worker" ? 2 : 1;
    EXPECT_EQ(std::ranges::count(lines, "ARGS " + role + ": --only " + role), replicas) << run.err;
    ASSERT_EQ(cluster[role].size(), replicas) << cluster.dump();
    for (const Json& peer : cluster[role]) {
      const std::string heard = " of " + peer.get<std::string>() + ": image of " + role;
      const auto says_so = [&](const std::string& line) {
        return line.starts_with("HEARD ") && line.ends_with(heard);
      };
      EXPECT_EQ(std::ranges::count_if(lines, says_so), kReplicas) << heard << " in\n" << run.err;
    }
  }
}

TEST_P(RoleImages, KnowTheirTasksAndTheArgumentsOfTheJob) {
  const auto nothing = [](const std::string&) { return Json::object(); };
  const Transcript run = Submit("tasks", nothing, {"--", "--epochs", "2", "a  'b'"});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const std::vector<std::string> lines = LinesOf("tasks");
  const std::vector<Json> specs = ValuesAfter("SPEC", lines);
  const std::vector<Json> configs = ValuesAfter("TF", lines);
  ASSERT_EQ(specs.size(), kReplicas) << run.err;
  ASSERT_EQ(configs.size(), kReplicas) << run.err;
  const Json& cluster = specs[0]["cluster"];
  std::map<std::string, int> tasks;
  for (const Json& spec : specs) {
    EXPECT_EQ(spec["cluster"], cluster);
    ++tasks["spec of " + StringOr(spec["task"], "type")];
  }
  const Json in_config = {
      {"chief", cluster["master"]}, {"ps", cluster["ps"]}, {"worker", cluster["worker"]}};
  for (const Json& config : configs) {
    EXPECT_EQ(config["cluster"], in_config);
    ++tasks["config of " + StringOr(config["task"], "type")];
  }
  for (const std::string role : kRoles) {
    const int replicas = role == "worker" ? 2 : 1;
    EXPECT_EQ(tasks["spec of " + role], replicas) << run.err;
    EXPECT_EQ(tasks["config of " + (role == "master" ? "chief" : role)], replicas) << run.err;
    EXPECT_THAT(lines, Contains("ARGS " + role + ": --epochs 2 a  'b'"));
    const std::string host = cluster[role][0];
    const std::string name = GetParam() == std::string("bundled") ? "cmle-training-" + role : "127";
    EXPECT_THAT(host, AllOf(StartsWith(name), EndsWith(":2222")));
  }
}

INSTANTIATE_TEST_SUITE_P(Each, RoleImages, ::testing::Values("bundled", "podman", "docker"),
                         [](const auto& engine) { return std::string(engine.param); });

}  // namespace
}  // namespace caip::testing
