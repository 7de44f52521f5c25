#include "emulator/app/settings/options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/yaml.h"
#include "emulator/app/settings/setting_readers.h"
#include "emulator/app/settings/settings_table.h"
#include "places.h"

namespace caip::app {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

class Options : public ::testing::Test {
 protected:
  Result<EmulatorOptions> Read(const std::string& config, EmulatorFlags flags = {}) {
    EXPECT_TRUE(WriteFile(directory_.path() / "config.yaml", config).ok());
    return ReadOptions(flags, directory_.path());
  }
  TemporaryDirectory directory_;
};

TEST_F(Options, HaveDefaultsAndASeedOfTheirOwn) {
  const auto options = ReadOptions({}, directory_.path());
  ASSERT_TRUE(options.ok());
  EXPECT_EQ(options->address, "127.0.0.1");
  EXPECT_EQ(options->queue_delay, run::DelayModel(run::NoDelay{}));
  EXPECT_NE(options->seed, ReadOptions({}, directory_.path())->seed);
}

// The paths of bucket directories are compared, and machines have them at the same places.
TEST(StateDirectory, HasOneNameWithoutLinks) {
  const TemporaryDirectory directory;
  const Path base = std::filesystem::canonical(directory.path());
  std::filesystem::create_directories(base / "real/inner");
  std::filesystem::create_directory_symlink("real", base / "link");
  const std::pair<const char*, const char*> cases[] = {
      {"real/inner/../../new", "new"},
      {"link", "real"},
      {"link/state", "real/state"},
      {"link/inner/../state/", "real/state"},
      {"real/inner/", "real/inner"},
      {"new/../other/./state", "other/state"},
      {"link/new/deeper/", "real/new/deeper"},
  };
  for (const auto& [given, wanted] : cases) {
    EmulatorFlags flags;
    flags.state = (base / given).string();
    EXPECT_EQ(StateDirectory(flags), base / wanted) << given;
  }
}

TEST_F(Options, TheConfigFileInTheStateDirectoryIsRead) {
  const auto options = Read(
      "queue_delay: constant:20m\n"
      "seed: 7\n"
      "gpus: share\n"
      "jobs_max: 2\n"
      "failing_restart: 90s\n"
      "grace: 5s\n"
      "create_buckets: true\n"
      "durability: relaxed\n"
      "images:\n"
      "  gcr.io/p/trainer:v1: python3 '/my src/train.py'\n"
      "  gcr.io/p/other:v1: [sh, -c, exit 0]\n"
      "runtimes: {\"2.11\": /usr/bin/python3}\n"
      "persistent_resources: [pool-1]\n"
      "nfs_exports: {\"10.0.0.2:/data/./a/\": /usr/../usr/, \"fe80::1:/\": /}\n");
  ASSERT_TRUE(options.ok()) << options.error().message;
  EXPECT_EQ(options->queue_delay, run::DelayModel(run::ConstantDelay{std::chrono::minutes(20)}));
  EXPECT_EQ(options->seed, 7u);
  EXPECT_EQ(options->gpus, GpuMode::kShare);
  EXPECT_EQ(options->jobs_max, 2);
  EXPECT_EQ(options->failing_restart, std::chrono::seconds(90));
  EXPECT_EQ(options->grace, std::chrono::seconds(5));
  EXPECT_TRUE(options->create_buckets);
  EXPECT_FALSE(options->durable_storage);
  EXPECT_THAT(options->images.at("gcr.io/p/trainer:v1"),
              ElementsAre("python3", "/my src/train.py"));
  EXPECT_THAT(options->images.at("gcr.io/p/other:v1"), ElementsAre("sh", "-c", "exit 0"));
  EXPECT_EQ(options->runtimes.at("2.11"), "/usr/bin/python3");
  EXPECT_THAT(options->persistent_resources, ElementsAre("pool-1"));
  EXPECT_THAT(options->nfs_exports,
              ElementsAre(Pair("10.0.0.2:/data/a", "/usr"), Pair("fe80::1:/", "/")));
}

TEST_F(Options, LetOtherHostsReachTheEmulatorOnlyWithAToken) {
  EmulatorOptions options;
  for (const char* address : {"127.0.0.1", "127.3.4.5", "::1", "localhost"}) {
    options.address = address;
    EXPECT_TRUE(CheckReach(options).ok()) << address;
  }
  for (const char* address : {"0.0.0.0", "::", "192.0.2.2", "fd00::2"}) {
    options.address = address;
    const Status open = CheckReach(options);
    ASSERT_FALSE(open.ok()) << address;
    EXPECT_THAT(open.error().message, HasSubstr("--token FILE")) << address;
  }
  for (const char* text : {"localhost:8080", "a.example", "127.0.0.1:80", ""}) {
    options.address = text;
    EXPECT_THAT(CheckReach(options).error().message, HasSubstr("is not an address")) << text;
  }
  options.address = "0.0.0.0";
  options.token_file = "/run/token";
  EXPECT_TRUE(CheckReach(options).ok());
  options.allow_all_users = true;
  EXPECT_THAT(CheckReach(options).error().message, HasSubstr("from other hosts"));
}

TEST_F(Options, NameTheUsersWhoMaySendRequests) {
  const auto none = ReadOptions({}, directory_.path());
  EXPECT_THAT(none->allowed_users, IsEmpty());
  EXPECT_FALSE(none->allow_all_users);
  const auto listed = Read("allow_users: [root, 1234]\n");
  ASSERT_TRUE(listed.ok()) << listed.error().message;
  EXPECT_THAT(listed->allowed_users, ElementsAre(0u, 1234u));
  EmulatorFlags flags;
  flags.settings["allow_users"] = {"99,root"};
  EXPECT_THAT(Read("allow_users: [all]\n", flags)->allowed_users, ElementsAre(99u, 0u));
  EXPECT_FALSE(Read("allow_users: [all]\n", flags)->allow_all_users) << "the flag wins";
  flags.settings["allow_users"] = {"all"};
  EXPECT_TRUE(Read("", flags)->allow_all_users);
  flags.settings["allow_users"] = {"no-such-user"};
  const auto unknown = ReadOptions(flags, directory_.path());
  ASSERT_FALSE(unknown.ok());
  EXPECT_THAT(unknown.error().message,
              HasSubstr("--allow-users: 'no-such-user' is not a user of this host"));
}

TEST_F(Options, TheHostDecidesAboutIsolationUnlessAsked) {
  EXPECT_EQ(Read("")->isolation, Isolation::kByHost);
  EXPECT_EQ(Read("isolation: machine\n")->isolation, Isolation::kMachine);
  EmulatorFlags flags;
  flags.settings["isolation"] = {"process"};
  EXPECT_EQ(Read("isolation: machine\n", flags)->isolation, Isolation::kProcess);
  flags.settings["isolation"] = {"vm"};
  EXPECT_THAT(Read("", flags).error().message,
              HasSubstr("--isolation: 'vm' is not one of: process, machine"));
}

TEST_F(Options, FlagsWinOverTheFile) {
  EmulatorFlags flags;
  flags.settings["seed"] = {"9"};
  flags.settings["gpus"] = {"cpu"};
  flags.settings["images"] = {"a/b=sh -c 'exit 1'"};
  const auto options = Read("seed: 7\ngpus: queue\nimages: {a/b: sh}\n", flags);
  ASSERT_TRUE(options.ok()) << options.error().message;
  EXPECT_EQ(options->seed, 9u);
  EXPECT_EQ(options->gpus, GpuMode::kCpu);
  EXPECT_THAT(options->images.at("a/b"), ElementsAre("sh", "-c", "exit 1"));
}

TEST_F(Options, AllMistakesOfTheFileAreToldWithTheirPlace) {
  const auto options = Read(
      "queue_dellay: constant:20m\n"
      "jobs_max: -1\n"
      "images:\n"
      "  x/y: {a: b}\n");
  ASSERT_FALSE(options.ok());
  EXPECT_EQ(options.error().violations.size(), 3u) << options.error().message;
  EXPECT_THAT(options.error().message,
              HasSubstr("config.yaml:1:1: queue_dellay is not a setting of caip. Did you mean "
                        "queue_delay?\n  queue_dellay: constant:20m\n  ^"));
  EXPECT_THAT(options.error().message, HasSubstr("config.yaml:2:11: jobs_max must"));
  EXPECT_THAT(options.error().message, HasSubstr("config.yaml:4:"));
}

TEST_F(Options, OnlyImagesAreMapped) {
  const auto options = Read(
      "images:\n"
      "  bad uri: run\n"
      "  gcr.io/P/a: {a: b}\n"
      "  gcr.io/p/a:v1: run\n");
  ASSERT_FALSE(options.ok());
  EXPECT_EQ(options.error().violations.size(), 3u) << options.error().message;
  EXPECT_THAT(options.error().message,
              AllOf(HasSubstr("config.yaml:2:12: bad uri is not a valid name of an image. Write "),
                    HasSubstr("gcr.io/P/a is not a valid name of an image."),
                    HasSubstr("gcr.io/P/a must be a command")));
  EmulatorFlags flags;
  flags.settings["images"] = {"gcr.io/p/a=run", "bad uri=run"};
  EXPECT_THAT(Read("", flags).error().message,
              HasSubstr("--map-image: 'bad uri' is not a valid name of an image: "));
}

TEST_F(Options, PlacesOfImagesMayHaveBlanksAndQuotes) {
  EmulatorFlags flags;
  flags.settings["images"] = {"a/b=oci:/tmp/sp  ace:v1", "a/c=oci:'/tmp/sp ace'", "a/d='oci:/x y'",
                              "a/e=oci-archive:/it's.tar"};
  const auto options = Read(
      "images:\n"
      "  a/f: oci:/tmp/sp ace\n"
      "  a/g: [\"docker-archive:/tmp/sp ace\"]\n",
      flags);
  ASSERT_TRUE(options.ok()) << options.error().message;
  EXPECT_THAT(options->images, ElementsAre(Pair("a/b", ElementsAre("oci:/tmp/sp  ace:v1")),
                                           Pair("a/c", ElementsAre("oci:/tmp/sp ace")),
                                           Pair("a/d", ElementsAre("oci:/x y")),
                                           Pair("a/e", ElementsAre("oci-archive:/it's.tar")),
                                           Pair("a/f", ElementsAre("oci:/tmp/sp ace")),
                                           Pair("a/g", ElementsAre("docker-archive:/tmp/sp ace"))));
}

TEST_F(Options, ExportsOfNfsServersAreMappedToDirectories) {
  const auto options = Read(
      "nfs_exports:\n"
      "  10.0.0.2: /srv\n"
      "  10.0.0.2:data: /srv\n"
      "  10.0.0.2:/a/../b: /srv\n"
      "  10.0.0.2:/c: srv\n"
      "  10.0.0.2:/d: {}\n"
      "  10.0.0.2:/e: /srv\n"
      "  10.0.0.2:/e/: /srv/e\n");
  ASSERT_FALSE(options.ok());
  EXPECT_EQ(options.error().violations.size(), 6u) << options.error().message;
  EXPECT_THAT(options.error().message,
              HasSubstr("must be an export of an NFS server, without '..': SERVER:/PATH"));
  EXPECT_THAT(options.error().message, HasSubstr("must be the absolute path of a directory"));
  EXPECT_THAT(options.error().message, HasSubstr("repeats the export 10.0.0.2:/e"));
  EXPECT_FALSE(Read("nfs_exports: [\"10.0.0.2:/a\"]\n").ok());
  EXPECT_FALSE(Read("persistent_resources: pool: 1\n").ok());
  EXPECT_FALSE(Read("persistent_resources: {pool-1: true}\n").ok());
}

TEST_F(Options, AllMistakesOfTheFlagsAreToldAtOnce) {
  EmulatorFlags flags;
  flags.settings["gpus"] = {"many"};
  flags.settings["addressing"] = {"wifi"};
  flags.settings["seed"] = {"x"};
  flags.settings["images"] = {"nothing"};
  const auto options = ReadOptions(flags, directory_.path());
  ASSERT_FALSE(options.ok());
  EXPECT_EQ(options.error().violations.size(), 4u) << options.error().message;
  EXPECT_THAT(options.error().message,
              HasSubstr("--gpus: 'many' is not one of: queue, share, cpu"));
}

TEST_F(Options, OffIsAWordAlthoughYamlReadsItAsFalse) {
  const auto options = Read("gs_front: off\naccess_log: off\n");
  ASSERT_TRUE(options.ok()) << options.error().message;
  EXPECT_EQ(options->gs_front, GsFront::kOff);
  EXPECT_EQ(options->access_log, "off");
}

TEST_F(Options, AConfigFileThatIsNamedMustBeThere) {
  EmulatorFlags flags;
  flags.config = (directory_.path() / "missing.yaml").string();
  const auto options = ReadOptions(flags, directory_.path());
  EXPECT_EQ(options.error().code, Code::kInvalidArgument) << "the command line is wrong";
  EXPECT_THAT(options.error().message, HasSubstr("missing.yaml' of --emulator-config does not"));
}

TEST(SettingsTable, TheDocumentedConfigFileIsTheTables) {
  const auto page = ReadFile(Path(CAIP_SOURCE_DIR) / "docs/configuration.md");
  ASSERT_TRUE(page.ok());
  EXPECT_THAT(*page, HasSubstr("```yaml\n" + SampleConfigFile() + "```")) << SampleConfigFile();
}

TEST_F(Options, SamplesThatAreDefaultsChangeNothing) {
  for (const Setting& setting : Settings()) {
    if (!setting.sample_is_default) continue;
    EmulatorOptions options;
    EmulatorOptions untouched;
    const auto value = ParseYaml(std::string(setting.sample), "sample");
    ASSERT_TRUE(value.ok()) << setting.key;
    EXPECT_TRUE(setting.set(value->value, options).empty()) << setting.key;
    const auto same = [&](auto... members) {
      return ((options.*members == untouched.*members) && ...);
    };
    using O = EmulatorOptions;
    EXPECT_TRUE(same(&O::address, &O::allowed_hosts, &O::create_buckets, &O::keep_disks,
                     &O::disk_bytes_max, &O::only_named_disk_sizes, &O::machine_limits,
                     &O::addressing, &O::storage_view, &O::gs_front, &O::isolation,
                     &O::durable_storage, &O::queue_delay, &O::provision_delay, &O::restart_delay,
                     &O::failing_restart, &O::grace, &O::jobs_max, &O::strict_runtime,
                     &O::interpreters, &O::extra_regions, &O::persistent_resources,
                     &O::project_number, &O::service_account, &O::background_idle))
        << setting.key;
  }
}

TEST_F(Options, LimitTheDisksThatTheySay) {
  const auto limits = [&](const std::string& value) {
    const auto options = Read("disk_limits: " + value + "\n");
    EXPECT_TRUE(options.ok()) << options.error().message;
    return std::pair(options->disk_bytes_max, options->only_named_disk_sizes);
  };
  const uint64_t by_job = EmulatorOptions::kByJob;
  EXPECT_EQ(limits("asked"), std::pair(by_job, true));
  EXPECT_EQ(limits("job"), std::pair(by_job, false));
  EXPECT_EQ(limits("20GB"), std::pair(uint64_t{20} << 30, false));
  EXPECT_EQ(limits("off"), std::pair(uint64_t{0}, false));
  EXPECT_THAT(Read("disk_limits: 20\n").error().message, HasSubstr("or use asked, job or off"));
}

TEST_F(Options, EverySampleIsAValidValue) {
  const auto options = Read(SampleConfigFile());
  EXPECT_TRUE(options.ok()) << options.error().message;
}

TEST(ShellWords, SplitAsAShellDoes) {
  EXPECT_THAT(*ShellWords("a  'b c' \"d e\"f g\\ h ''"),
              ElementsAre("a", "b c", "d ef", "g h", ""));
  EXPECT_TRUE(ShellWords("")->empty());
  EXPECT_FALSE(ShellWords("'open"));
}

}  // namespace
}  // namespace caip::app
