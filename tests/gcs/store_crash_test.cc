// What happens when several write at once, and when a writer is killed.
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "base/random.h"
#include "tests/gcs/store_world.h"

namespace caip::gcs {
namespace {

// 300,000 times the same letter: torn or mixed bytes show at once.
std::string LettersOf(char letter) { return std::string(300'000, letter); }

bool IsWhole(const std::string& bytes) {
  return bytes.size() == 300'000 && bytes.find_first_not_of(bytes[0]) == std::string::npos;
}

TEST(ConcurrentStore, ReadersSeeWholeObjectsOnly) {
  StoreWorld world;
  ASSERT_TRUE(world->CreateBucket("bkt").ok());
  world.Put("dir/x", LettersOf('a'));
  std::atomic<bool> done{false};
  std::vector<std::thread> writers;
  for (int w = 0; w < 3; ++w) {
    writers.emplace_back([&, w] {
      for (int i = 0; i < 40; ++i) world.Put("dir/x", LettersOf(static_cast<char>('a' + w)));
    });
  }
  std::thread reader([&] {
    while (!done) {
      EXPECT_TRUE(IsWhole(world.Get("dir/x")));
      EXPECT_EQ(world.Names(), std::vector<std::string>{"dir/x"});
    }
  });
  for (std::thread& writer : writers) writer.join();
  done = true;
  reader.join();
}

TEST(ConcurrentStore, OneOfManyCreatorsWins) {
  StoreWorld world;
  ASSERT_TRUE(world->CreateBucket("bkt").ok());
  for (int round = 0; round < 20; ++round) {
    const std::string name = "lock-" + std::to_string(round);
    std::atomic<int> winners{0};
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&, t] {
        if (world.TryPut(name, std::to_string(t), {.if_generation_match = 0}).ok()) ++winners;
      });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(winners, 1) << name;
  }
}

TEST(ConcurrentStore, WritersAndDeletersBesideEachOtherLoseNothing) {
  StoreWorld world;
  ASSERT_TRUE(world->CreateBucket("bkt").ok());
  world.Put("a", "stays");
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {  // "a" is a file, then a directory, then a file again, ...
      const std::string name = "a/b/" + std::to_string(t);
      for (int i = 0; i < 50; ++i) {
        world.Put(name, "x");
        EXPECT_TRUE(world.Delete(name).ok());
        EXPECT_EQ(world.Get("a"), "stays");
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(world.Names(), std::vector<std::string>{"a"});
  EXPECT_EQ(*ReadFile(world.File("a")), "stays");
}

// Overwrites one object until it is killed, and reports each acknowledged version through a pipe.
[[noreturn]] void WriteUntilKilled(const Path& root, int report) {
  const SystemClock clock;
  auto store = DirectoryStore::Open({.root = root}, clock);
  if (!store.ok()) ::_exit(1);
  for (char letter = 'a';; letter = letter == 'z' ? 'a' : static_cast<char>(letter + 1)) {
    auto writer = (*store)->NewObject("bkt", "x");
    const std::string bytes = LettersOf(letter);
    if (!writer.ok() || !(*writer)->Append(bytes).ok()) ::_exit(2);
    if (!(*writer)->Commit({}, {}, std::nullopt, std::nullopt).ok()) ::_exit(3);
    if (::write(report, &letter, 1) != 1) ::_exit(4);
  }
}

TEST(KilledStore, HasTheOldBytesOrTheNewOnesWhole) {
  TemporaryDirectory directory;
  const Path root = directory.path() / "buckets";
  const SystemClock clock;
  {
    auto store = DirectoryStore::Open({.root = root}, clock);
    ASSERT_TRUE((*store)->CreateBucket("bkt").ok());
  }
  Random random(99);
  int64_t last_generation = 0;
  for (int round = 0; round < 12; ++round) {
    int pipe_ends[2];
    ASSERT_EQ(::pipe(pipe_ends), 0);
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) WriteUntilKilled(root, pipe_ends[1]);
    ::close(pipe_ends[1]);
    char acknowledged = 0;
    const uint64_t reports = 1 + random.Below(4);
    for (uint64_t i = 0; i < reports; ++i) ASSERT_EQ(::read(pipe_ends[0], &acknowledged, 1), 1);
    pollfd next_report{pipe_ends[0], POLLIN, 0};
    ::poll(&next_report, 1, static_cast<int>(random.Below(6)));  // somewhere in the next write
    ::kill(child, SIGKILL);
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status)) << "the writer failed by itself: " << status;
    while (::read(pipe_ends[0], &acknowledged, 1) == 1) {
    }
    ::close(pipe_ends[0]);

    auto store = DirectoryStore::Open({.root = root}, clock);
    ASSERT_TRUE(store.ok()) << store.error().message;
    auto reader = (*store)->OpenObject("bkt", "x");
    ASSERT_TRUE(reader.ok()) << reader.error().message;
    std::string bytes((*reader)->info().size, '\0');
    ASSERT_EQ(*(*reader)->ReadAt(0, bytes.data(), bytes.size()), bytes.size());
    EXPECT_TRUE(IsWhole(bytes));
    const char next = acknowledged == 'z' ? 'a' : static_cast<char>(acknowledged + 1);
    EXPECT_TRUE(bytes[0] == acknowledged || bytes[0] == next) << bytes[0] << acknowledged;
    EXPECT_GT((*reader)->info().generation, last_generation);
    last_generation = (*reader)->info().generation;
    EXPECT_EQ((*store)->List("bkt", {})->items.size(), 1u);
    EXPECT_TRUE(FilesIn(root / ".caip-tmp").empty());
  }
}

}  // namespace
}  // namespace caip::gcs
