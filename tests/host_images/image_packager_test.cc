// What the packager prepares of images, and the users that images name.

#include "host/images/image_packager.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <condition_variable>
#include <filesystem>
#include <future>

#include "base/clock.h"
#include "host/images/image_user.h"
#include "tests/host/launch_world.h"

namespace caip::host {
namespace {

using engine::Prepared;
using engine::PreparedImage;
using engine::PrepareRequest;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Key;

constexpr std::chrono::seconds kPatience{30};

/// Answers at once, and counts.
class QuickPackager final : public engine::Packager {
 public:
  explicit QuickPackager(std::vector<std::string>& calls) : calls_(calls) {}
  void Prepare(PrepareRequest request, std::function<void(Prepared)> done) override {
    calls_.push_back("prepare " + request.python_module);
    Prepared prepared;
    prepared.run = request.run;
    prepared.attempt = request.attempt;
    prepared.interpreter = "/bin/python3";
    done(std::move(prepared));
  }
  void Abandon(const engine::RunKey& run) override { calls_.push_back("abandon " + run.job_id); }

 private:
  std::vector<std::string>& calls_;
};

/// Has images whose layer is "/layers/NAME"; "slow" waits until GoOn is called or it is stopped.
class NamedImages final : public ImageSource {
 public:
  Result<PreparedImage> Provide(const std::string& uri, const std::string&, const Note& note,
                                const std::stop_token& stop) override {
    if (uri == "missing") return Error{Code::kFailedPrecondition, "There is no such image."};
    if (uri == "slow") {
      std::unique_lock lock(mutex_);
      is_waiting_ = true;
      changed_.notify_all();
      changed_.wait(lock, stop, [this] { return may_go_on_; });
    }
    note(engine::Severity::kInfo, "unpacked " + uri);
    PreparedImage image;
    image.layers = {"/layers/" + uri};
    return image;
  }
  bool AwaitSlow() {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, kPatience, [this] { return is_waiting_; });
  }
  void GoOn() {
    const std::lock_guard lock(mutex_);
    may_go_on_ = true;
    changed_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable_any changed_;
  bool is_waiting_ = false;
  bool may_go_on_ = false;
};

struct PackagerOfImages : ::testing::Test {
  PackagerOfImages() {
    auto named = std::make_unique<NamedImages>();
    images = named.get();
    packager.emplace(std::make_unique<QuickPackager>(calls), std::move(named), sink, clock);
  }
  static PrepareRequest Request(const std::vector<std::string>& uris, std::string module = "") {
    PrepareRequest request;
    request.run = {"p", "job_1", ""};
    request.attempt = 2;
    for (const std::string& uri : uris) request.images[uri] = "";
    request.python_module = std::move(module);
    return request;
  }
  Prepared Prepare(PrepareRequest request) {
    auto answer = std::make_shared<std::promise<Prepared>>();
    auto future = answer->get_future();
    packager->Prepare(std::move(request),
                      [answer](Prepared prepared) { answer->set_value(std::move(prepared)); });
    EXPECT_EQ(future.wait_for(kPatience), std::future_status::ready);
    return future.get();
  }

  std::vector<std::string> calls;
  RecordingSink sink;
  SystemClock clock;
  NamedImages* images = nullptr;
  std::optional<ImagePackager> packager;
};

TEST_F(PackagerOfImages, ProvidesEachImageByItsName) {
  const Prepared prepared = Prepare(Request({"a", "b"}));
  EXPECT_EQ(prepared.run.job_id, "job_1");
  EXPECT_EQ(prepared.attempt, 2);
  ASSERT_FALSE(prepared.failure);
  EXPECT_THAT(prepared.images, ElementsAre(Key("a"), Key("b")));
  EXPECT_THAT(prepared.images.at("b")->layers, ElementsAre("/layers/b"));
  EXPECT_THAT(sink.Messages("service"), ElementsAre("unpacked a", "unpacked b"));
  EXPECT_THAT(calls, IsEmpty()) << "there are no packages";
}

TEST_F(PackagerOfImages, LeavesPackagesToTheOtherPackager) {
  EXPECT_EQ(Prepare(Request({}, "trainer.task")).interpreter, "/bin/python3");
  const Prepared both = Prepare(Request({"a"}, "trainer.task"));
  EXPECT_EQ(both.interpreter, "/bin/python3");
  EXPECT_THAT(both.images, ElementsAre(Key("a")));
  EXPECT_THAT(calls, ElementsAre("prepare trainer.task", "prepare trainer.task"));
}

TEST_F(PackagerOfImages, RefusesARunWithTheReasonOfTheImage) {
  const Prepared prepared = Prepare(Request({"a", "missing"}, "trainer.task"));
  ASSERT_TRUE(prepared.failure);
  EXPECT_EQ(prepared.failure->refusal, "There is no such image.");
  EXPECT_THAT(calls, IsEmpty()) << "nothing is installed for it";
}

TEST_F(PackagerOfImages, PreparesOtherRunsWhileOneTakesLong) {
  std::promise<void> slow;
  packager->Prepare(Request({"slow"}), [&](const Prepared&) { slow.set_value(); });
  ASSERT_TRUE(images->AwaitSlow());
  EXPECT_THAT(Prepare(Request({"a"})).images, ElementsAre(Key("a")));
  images->GoOn();
  EXPECT_EQ(slow.get_future().wait_for(kPatience), std::future_status::ready);
}

TEST_F(PackagerOfImages, NeverAnswersAnAbandonedRun) {
  std::atomic<bool> was_answered = false;
  packager->Prepare(Request({"slow"}), [&](const Prepared&) { was_answered = true; });
  ASSERT_TRUE(images->AwaitSlow());
  packager->Abandon({"p", "job_1", ""});
  packager.reset();  // joins the thread
  EXPECT_FALSE(was_answered);
  EXPECT_THAT(calls, ElementsAre("abandon job_1"));
}

TEST_F(PackagerOfImages, StopsAtItsOwnEnd) {
  std::atomic<bool> was_answered = false;
  packager->Prepare(Request({"slow"}), [&](const Prepared&) { was_answered = true; });
  ASSERT_TRUE(images->AwaitSlow());
  packager.reset();
  EXPECT_FALSE(was_answered);
}

struct UserOfAnImage : ::testing::Test {
  UserOfAnImage() {
    EXPECT_TRUE(MakeDirectories(base.path() / "etc").ok());
    EXPECT_TRUE(MakeDirectories(top.path() / "etc").ok());
    Write(base, "etc/passwd",
          "root:x:0:0:root:/root:/bin/sh\ntrainer:x:1000:100:Trainer:/home/trainer:/bin/sh\n");
    Write(base, "etc/group", "root:x:0:\nusers:x:100:trainer\nmodels:x:200:trainer\n");
  }
  static void Write(const TemporaryDirectory& layer, const char* path, const std::string& text) {
    EXPECT_TRUE(WriteFile(layer.path() / path, text).ok());
  }
  Result<ImageUser> Find(const std::string& user) const {
    return FindImageUser(user, {base.path(), top.path()});
  }

  TemporaryDirectory base{"caip-layer-"};
  TemporaryDirectory top{"caip-layer-"};
};

struct UserCase {
  const char* user;
  uint32_t number;
  uint32_t group;
  const char* home;
};

TEST_F(UserOfAnImage, IsANameOrANumberWithOrWithoutAGroup) {
  constexpr UserCase kCases[] = {
      {"", 0, 0, "/root"},
      {"root", 0, 0, "/root"},
      {"trainer", 1000, 100, "/home/trainer"},
      {"1000", 1000, 100, "/home/trainer"},
      {"trainer:models", 1000, 200, "/home/trainer"},
      {"trainer:7", 1000, 7, "/home/trainer"},
      {"4711", 4711, 0, "/"},
      {"4711:4712", 4711, 4712, "/"},
      {":users", 0, 100, "/root"},
  };
  for (const UserCase& known : kCases) {
    const auto found = Find(known.user);
    ASSERT_TRUE(found.ok()) << known.user << ": " << found.error().message;
    EXPECT_EQ(found->user, known.number) << known.user;
    EXPECT_EQ(found->group, known.group) << known.user;
    EXPECT_EQ(found->home, known.home) << known.user;
  }
}

TEST_F(UserOfAnImage, IsRefusedIfTheImageHasNoSuchName) {
  EXPECT_THAT(Find("nobody").error().message, HasSubstr("'nobody' is not in /etc/passwd"));
  EXPECT_THAT(Find("trainer:staff").error().message, HasSubstr("'staff' is not in /etc/group"));
  EXPECT_EQ(Find("-1").error().code, Code::kNotFound);
  EXPECT_EQ(Find("99999999999").error().code, Code::kNotFound);
}

TEST_F(UserOfAnImage, IsLookedUpInTheHighestLayerThatHasTheTable) {
  Write(top, "etc/passwd", "trainer:x:2000:2000::/srv:/bin/sh\n");
  EXPECT_EQ(Find("trainer")->user, 2000u);
}

TEST_F(UserOfAnImage, IsNotLookedUpInADeletedTable) {
  ASSERT_EQ(::mknod((top.path() / "etc/passwd").c_str(), S_IFCHR, makedev(0, 0)), 0);
  EXPECT_EQ(Find("trainer").error().code, Code::kNotFound);
}

TEST_F(UserOfAnImage, IsNotLookedUpInFilesOfTheHost) {
  std::filesystem::remove(base.path() / "etc/passwd");
  std::filesystem::create_symlink("/etc/passwd", base.path() / "etc/passwd");
  EXPECT_EQ(Find("daemon").error().code, Code::kNotFound);
  std::filesystem::remove(base.path() / "etc/passwd");
  std::filesystem::create_symlink("../../../../../etc/passwd", base.path() / "etc/passwd");
  EXPECT_EQ(Find("daemon").error().code, Code::kNotFound);
}

TEST_F(UserOfAnImage, SurvivesTablesThatAreNone) {
  Write(top, "etc/passwd", std::string("trainer\n:::::::\ntrainer:x\n\0\xff", 28));
  EXPECT_EQ(Find("trainer").error().code, Code::kNotFound);
}

}  // namespace
}  // namespace caip::host
