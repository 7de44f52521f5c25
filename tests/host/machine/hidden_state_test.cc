// State directories, which machines do not see, also not in directories that they show.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "host/store/state_directory.h"
#include "tests/host/machine/machine_files_world.h"

namespace caip::host {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// A script imports what is elsewhere in its repository. The state directory may be there, too.
TEST_F(MachineFilesTest, ShowTheRepositoryOfAScriptWithoutTheStateDirectory) {
  const TemporaryDirectory directory("caip-repository-");
  const Path& repository = directory.path();
  const Path script = repository / "jobs/one/task.sh";
  const Path state = repository / ".caip";
  for (const Path& file : {repository / "lib.sh", state / "keys/token", state / "python/hook"}) {
    ASSERT_TRUE(MakeDirectories(file.parent_path()).ok());
    ASSERT_TRUE(WriteFile(file, "echo from lib\n").ok());
  }
  ASSERT_TRUE(MakeDirectories(repository / ".git").ok());
  ASSERT_TRUE(MakeDirectories(script.parent_path()).ok());
  ASSERT_TRUE(WriteFile(script,
                        "cd \"$(dirname \"$0\")/../..\"; . ./lib.sh\n"
                        "find \"$STATE\" -type f; touch x 2>/dev/null || echo refused\n"
                        "cat \"$LINK/lib.sh\"; find \"$LINK/.caip\" -type f\n")
                  .ok());
  auto launch = OnMachine("");
  launch.program = run::LocalCommand{{"/bin/sh", script.string()}};
  const std::string hook = (state / "python/hook").string();
  launch.environment.emplace_back("STATE", state.string());
  launch.environment.emplace_back("HOOK", hook);
  launch.environment.emplace_back("KEY", (state / "keys/token").string());
  const TemporaryDirectory links("caip-links-");
  const Path link = links.path() / "link";
  std::filesystem::create_directory_symlink(repository, link);
  launch.environment.emplace_back("LINK", link.string());
  LaunchWorld world(ProcessLauncherOptions{.state_directory = state, .own_roots = true});
  EXPECT_EQ(world.Run(std::move(launch)).start_error, "");
  EXPECT_THAT(world.sink.Messages(), ElementsAre("from lib", hook, "refused", "echo from lib"));
}

// The state directory of a run of a scenario, and the user's, which machines of the run do not see.
struct StatesOfRun {
  explicit StatesOfRun(const Path& root) : outer(root / "state") {
    for (const Path& file : {outer / "keys/token", outer / "jobs.db", outer / "runtimes/python3",
                             play / "run-1/keys/token", play / "run-2/keys/token", play / "run-2/a",
                             play / "caches/environments/b"}) {
      EXPECT_TRUE(MakeDirectories(file.parent_path()).ok());
      EXPECT_TRUE(WriteFile(file, "").ok());
    }
    for (const Path& target : {outer / "keys", outer / "keys/token", outer / "scenarios", play,
                               play / "run-2", play / "run-2/a", outer, root, root / "state/..",
                               outer / "runtimes", play / "caches/environments"}) {
      const Path link = links.path() / ("link-" + std::to_string(link_count++));
      std::filesystem::create_symlink(target, link);
    }
    std::filesystem::create_directory_symlink("/", links.path() / "root");
  }

  // A trainer that asks for all that is there, and names what it wants to see. Links that are in a
  // hidden directory lead there, too.
  void NameFilesIn(engine::ReplicaLaunch& launch) const {
    launch.program =
        run::LocalCommand{{"/bin/sh", "-c",
                           "find \"$OUTER\" -type f | sed \"s|$OUTER/||\" | sort\n"
                           "find $LINKS -type f 2> /dev/null | sed 's|.*/link-[0-9]*/||' | sort\n"
                           "test -d \"$ROOT/etc\" && echo root\n"
                           "find \"$ROOT$OUTER\" -type f 2> /dev/null\n"
                           "test -f \"$ENVIRONMENT\" && echo environment"}};
    launch.environment.emplace_back("OUTER", outer.string());
    launch.environment.emplace_back("ROOT", (links.path() / "root").string());
    std::string names;
    for (int i = 0; i < link_count; ++i) {
      const std::string link = (links.path() / ("link-" + std::to_string(i))).string();
      launch.environment.emplace_back("LINK_" + std::to_string(i), link);
      names += " " + link;
    }
    launch.environment.emplace_back("LINKS", names);
    int number = 0;
    for (const Path& path : {outer / "keys", outer / "keys/token", outer / "runtimes/python3",
                             outer / "scenarios", play, play / "run-1", play / "run-1/keys/token",
                             play / "run-2", play / "run-2/keys/token", play / "run-2/a",
                             play / "caches", play / "caches/environments/b"}) {
      launch.environment.emplace_back("FILE_" + std::to_string(++number), path.string());
    }
  }

  Path outer;
  Path play = outer / "scenarios/play-1";
  TemporaryDirectory links{"caip-links-"};
  int link_count = 0;
};

constexpr char kCacheOfRuns[] = "scenarios/play-1/caches/environments/b";

TEST_F(MachineFilesTest, HideTheStateDirectoryAroundThatOfARun) {
  // Machines see one of these directories and not the other one, which is in /tmp.
  const Path seen =
      std::filesystem::canonical(CAIP_BINARY_DIR) / ("machine-files-" + std::to_string(::getpid()));
  const TemporaryDirectory hidden("caip-states-");
  std::vector<Path> roots = {hidden.path()};
  if (::access(CAIP_BINARY_DIR, W_OK) == 0) roots.push_back(seen);
  for (const Path& root : roots) {
    const StatesOfRun states(root);
    for (const Path& state : {states.play / "run-1", hidden.path() / "in-memory"}) {
      SCOPED_TRACE(state);
      ASSERT_TRUE(MakeDirectories(state / "python").ok());
      ASSERT_TRUE(WriteFile(state / "python/hook", "").ok());
      const Path environments = state / "environments";  // the run shares a cache
      std::filesystem::remove(environments);
      std::filesystem::create_directory_symlink(states.play / "caches/environments", environments);
      auto launch = OnMachine("");
      states.NameFilesIn(launch);
      launch.environment.emplace_back("HOOK", (state / "python/hook").string());
      launch.environment.emplace_back("ENVIRONMENT", (environments / "b").string());
      LaunchWorld world(ProcessLauncherOptions{
          .state_directory = state, .outer_states = {states.outer}, .own_roots = true});
      EXPECT_EQ(world.Run(std::move(launch)).start_error, "");
      std::vector<std::string> files = {"runtimes/python3", kCacheOfRuns};
      if (state != hidden.path() / "in-memory") {
        files.push_back("scenarios/play-1/run-1/environments/b");
        files.push_back("scenarios/play-1/run-1/python/hook");
      }
      // of the links to what runs share, of that to the root of the host, and of that of the run
      for (const char* line : {"b", "python3", "root", "environment"}) files.push_back(line);
      EXPECT_EQ(world.sink.Messages(), files);
    }
  }
  RemoveTree(seen);
}

// Directories of the host that machines of a job share, as exports of nfsMounts are.
TEST_F(MachineFilesTest, HideTheStateDirectoryInSharedVolumes) {
  const TemporaryDirectory root("caip-exports-");
  const Path state = root.path() / "deep/state";
  for (const Path& file :
       {root.path() / "file", state / "keys/token", state / "ca/ca.key", state / "python/hook",
        state / "scenarios/play-1/run-1/a", state / "buckets/bkt/object",
        state / "buckets" / kWorkOfStorage[0] / "part"}) {
    ASSERT_TRUE(MakeDirectories(file.parent_path()).ok());
    ASSERT_TRUE(WriteFile(file, "").ok());
  }
  std::filesystem::create_directory_symlink("deep", root.path() / "link");
  std::filesystem::create_directory_symlink("deep/state/keys", root.path() / "keys");
  auto launch = OnMachine(
      "cd /mnt/nfs; find . -path ./host -prune -o -type f -print | sort\n"
      "find \"./host$STATE\" -type f; test -d ./host/etc && echo host\n"
      "for directory in in/deep/state/keys state/keys keys; do\n"
      "  mkdir -p $directory && echo x > $directory/new\n"
      "done");
  const auto show = [&](const Path& directory, const char* name) {
    launch.volumes.push_back({directory.string(), std::string("/mnt/nfs/") + name});
  };
  show(root.path(), "in");
  show(root.path() / "link", "link");
  show(root.path() / "keys", "keys-by-link");
  show("/", "host");
  show(state, "state");
  show(state / "buckets/bkt", "bucket");
  for (const char* name : {"keys", "ca", "python", "scenarios", "buckets", "disks"}) {
    show(state / name, name);
  }
  launch.environment.emplace_back("STATE", state.string());
  LaunchWorld world(ProcessLauncherOptions{.state_directory = state, .own_roots = true});
  EXPECT_EQ(world.Run(std::move(launch)).start_error, "");
  EXPECT_THAT(world.sink.Messages(),
              ElementsAre("./bucket/object", "./buckets/bkt/object", "./in/file", "host"));
  EXPECT_FALSE(std::filesystem::exists(state / "keys/new"));
}

TEST_F(MachineFilesTest, HaveTheBucketsAlsoIfAVolumeHasTheStateDirectoryInIt) {
  const Path directory = State() / "buckets" / "bkt" / "out";
  ASSERT_TRUE(MakeDirectories(directory).ok());
  ASSERT_TRUE(WriteFile(State() / "secret", "secret\n").ok());
  auto launch = OnMachine("");
  launch.program = run::LocalCommand{
      {"/bin/sh", "-c", "echo w > \"$0/m\"; cat \"$0/../../../secret\"", directory.string()}};
  const std::string above = State().parent_path().string();
  launch.volumes = {{above, above, engine::Volume::Use::kCopyOnWrite}};
  EXPECT_THAT(Output(std::move(launch)), ElementsAre(HasSubstr("No such file")));
  EXPECT_EQ(*ReadFile(directory / "m"), "w\n");
}

}  // namespace
}  // namespace caip::host
