// `caip images list|import|map|remove` on the image store of a state directory.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "emulator/cli/arguments/arguments.h"
#include "emulator/cli/commands/commands.h"
#include "images/image_store.h"
#include "tests/images/image_maker.h"

namespace caip::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;
using Words = std::vector<std::string>;

class Images : public ::testing::Test {
 protected:
  int Run(Words words) {
    out_ = err_ = "";
    words.insert(words.begin(), "images");
    words.insert(words.end(), {"--state", state().string()});
    const Io io{[this](std::string_view text) { out_ += text; },
                [this](std::string_view text) { err_ += text; }};
    const Surroundings world{io, nullptr, nullptr};  // no emulator is needed
    const Command command = ParseArguments(words);
    if (const auto* c = std::get_if<ImagesListCommand>(&command)) return RunImagesList(*c, world);
    if (const auto* c = std::get_if<ImagesImportCommand>(&command)) {
      return RunImagesImport(*c, world);
    }
    if (const auto* c = std::get_if<ImagesMapCommand>(&command)) return RunImagesMap(*c, world);
    if (const auto* c = std::get_if<ImagesRemoveCommand>(&command)) {
      return RunImagesRemove(*c, world);
    }
    return RunPrint(std::get<PrintCommand>(command), world);
  }
  std::string Archive(const std::string& name) {
    const Path path = directory_.path() / "image.tar";
    const std::string bytes =
        images::ArchiveOf(images::MakeSavedImage({{{{{"file", "x"}}}, name, ""}}));
    EXPECT_TRUE(WriteFile(path, bytes).ok());
    return path.string();
  }
  Path state() const { return directory_.path() / "state"; }

  TemporaryDirectory directory_;
  std::string out_;
  std::string err_;
};

TEST_F(Images, AreImportedListedAndRemoved) {
  EXPECT_EQ(Run({"import", Archive("trainer:v1")}), kExitSuccess) << err_;
  EXPECT_THAT(err_, StartsWith("Imported trainer:v1 (sha256:"));
  EXPECT_EQ(Run({"import", Archive("x:1"), "--name", "gcr.io/my-project/trainer"}), kExitSuccess);
  EXPECT_THAT(err_, StartsWith("Imported gcr.io/my-project/trainer:latest (sha256:"));
  EXPECT_EQ(Run({"list"}), kExitSuccess);
  EXPECT_THAT(out_, StartsWith("NAME                              DIGEST        PLATFORM"));
  EXPECT_THAT(out_, HasSubstr("\ngcr.io/my-project/trainer:latest  "));
  EXPECT_THAT(out_, HasSubstr("imported\n"));
  EXPECT_EQ(Run({"remove", "trainer:v1", "gcr.io/my-project/trainer"}), kExitSuccess);
  EXPECT_EQ(err_,
            "Removed trainer:v1 (blobs: 0, unpacked layers: 0).\n"
            "Removed gcr.io/my-project/trainer (blobs: 3, unpacked layers: 0).\n");
  EXPECT_EQ(Run({"list"}), kExitSuccess);
  EXPECT_EQ(out_, "");
  EXPECT_EQ(err_, "Listed 0 items.\n");
}

// A client has pushed another image with the tag. Then the first has only its digest.
TEST_F(Images, WithoutATagAreListedAndRemovedByTheirDigests) {
  ASSERT_EQ(Run({"import", Archive("gcr.io/p/trainer:v1")}), kExitSuccess) << err_;
  ASSERT_EQ(Run({"list", "--format", "value(digest)"}), kExitSuccess);
  const std::string digest = out_.substr(0, out_.size() - 1);
  {
    const auto store = images::ImageStore::Open(state() / "images");
    ASSERT_TRUE(store.ok()) << store.error().message;
    ASSERT_TRUE((*store)->names().Remove("gcr.io/p/trainer", "v1").ok());
  }
  EXPECT_EQ(Run({"list", "--format", "value(name,tag,status)"}), kExitSuccess);
  EXPECT_EQ(out_, "gcr.io/p/trainer@" + digest + "\t\timported\n");
  EXPECT_EQ(Run({"remove", "gcr.io/p/trainer@" + digest}), kExitSuccess);
  EXPECT_THAT(err_, HasSubstr("(blobs: 3, unpacked layers: 0)"));
  EXPECT_EQ(Run({"list"}), kExitSuccess);
  EXPECT_EQ(err_, "Listed 0 items.\n");
}

TEST_F(Images, AreMappedAndListedUntilThatIsUndone) {
  EXPECT_EQ(Run({"map", "gcr.io/p/a:1=python3 'my task.py'", "gcr.io/p/b=oci:/b.tar"}),
            kExitSuccess)
      << err_;
  EXPECT_EQ(err_,
            "Mapped gcr.io/p/a:1 to python3 'my task.py'.\nMapped gcr.io/p/b to oci:/b.tar.\n");
  EXPECT_EQ(Run({"list", "--format", "value(name,status)"}), kExitSuccess);
  EXPECT_EQ(out_,
            "gcr.io/p/a:1\tmapped to python3 'my task.py'\ngcr.io/p/b\tmapped to oci:/b.tar\n");
  EXPECT_EQ(Run({"map", "--unset", "gcr.io/p/a:1"}), kExitSuccess);
  EXPECT_EQ(Run({"remove", "gcr.io/p/b"}), kExitSuccess) << err_;
  EXPECT_EQ(err_, "Removed the mapping of gcr.io/p/b.\n");
  EXPECT_EQ(Run({"list"}), kExitSuccess);
  EXPECT_EQ(out_, "");
}

TEST_F(Images, AreMappedToPathsThatDoNotDependOnTheDirectory) {
  EXPECT_EQ(Run({"map", "gcr.io/p/b=oci:b.tar"}), kExitSuccess) << err_;
  EXPECT_THAT(err_, HasSubstr(" to oci:" + (std::filesystem::current_path() / "b.tar").string()));
}

TEST_F(Images, AreMappedToPathsWithBlanks) {
  EXPECT_EQ(Run({"map", "gcr.io/p/b=oci:/tmp/sp ace", "gcr.io/p/c=oci-archive:/c.tar:v2"}),
            kExitSuccess)
      << err_;
  EXPECT_EQ(err_,
            "Mapped gcr.io/p/b to 'oci:/tmp/sp ace'.\n"
            "Mapped gcr.io/p/c to oci-archive:/c.tar:v2.\n");
  const Json map = *ParseJson(*ReadFile(state() / "images/map.json"));
  EXPECT_EQ(map.at("gcr.io/p/b"), Json({"oci:/tmp/sp ace"}));
}

TEST_F(Images, ThatAreMappedAndImportedAreRemovedAsBoth) {
  EXPECT_EQ(Run({"import", Archive("trainer:v1")}), kExitSuccess);
  EXPECT_EQ(Run({"map", "trainer:v1=true"}), kExitSuccess);
  EXPECT_EQ(Run({"remove", "trainer:v1"}), kExitSuccess);
  EXPECT_THAT(err_, AllOf(HasSubstr("Removed the mapping of trainer:v1."),
                          HasSubstr("Removed trainer:v1 (blobs: 3")));
}

TEST_F(Images, AreNotMappedByMistakes) {
  for (const Words& words : std::vector<Words>{
           {"map"}, {"map", "gcr.io/p/a"}, {"map", "=true"}, {"map", "gcr.io/p/a="}}) {
    EXPECT_EQ(Run(words), kExitUsage) << err_;
  }
  EXPECT_EQ(Run({"map", "gcr.io/p/a=true", "bad uri=true"}), kExitUsage);
  EXPECT_THAT(err_, HasSubstr("argument URI=COMMAND: 'bad uri' is not a valid name of an image: "));
  EXPECT_EQ(Run({"list"}), kExitSuccess);
  EXPECT_EQ(out_, "");  // the first mapping of the command is not kept either
  EXPECT_EQ(Run({"map", "--unset", "gcr.io/p/a"}), kExitFailure);
  EXPECT_THAT(err_, HasSubstr("'gcr.io/p/a' is not mapped in this state directory"));
}

TEST_F(Images, AreListedInTheFormatsOfOtherLists) {
  EXPECT_EQ(Run({"import", Archive("trainer:v1")}), kExitSuccess);
  EXPECT_EQ(Run({"list", "--format", "value(name,tag,layers)"}), kExitSuccess);
  EXPECT_EQ(out_, "trainer:v1\tv1\t1\n");
  EXPECT_EQ(Run({"list", "--format", "json"}), kExitSuccess);
  EXPECT_THAT(out_, HasSubstr("\"repository\": \"docker.io/library/trainer\""));
  EXPECT_EQ(Run({"list", "--format", "table(tag,status)"}), kExitSuccess);
  EXPECT_EQ(out_, "TAG  STATUS\nv1   imported\n");
  EXPECT_EQ(Run({"list", "--format", "bogus"}), kExitUsage);
  EXPECT_EQ(Run({"import", "x", "--format", "json"}), kExitUsage);
}

TEST_F(Images, AListMakesNoStateDirectory) {
  EXPECT_EQ(Run({"list"}), kExitSuccess);
  EXPECT_FALSE(std::filesystem::exists(state()));
}

TEST_F(Images, AnImportMakesAStateDirectoryOfThisUserAlone) {
  EXPECT_EQ(Run({"import", Archive("trainer:v1")}), kExitSuccess);
  EXPECT_EQ(std::filesystem::status(state()).permissions(), std::filesystem::perms::owner_all);
}

TEST_F(Images, ReportWhatIsWrong) {
  const struct {
    Words words;
    int exit_code;
    const char* text;
  } cases[] = {
      {{"import"}, kExitUsage, "SOURCE"},
      {{"import", "/no/file"}, kExitFailure, "The image '/no/file' cannot be read: "},
      {{"import", "x", "--name", "gcr.io/P/x"},
       kExitUsage,
       "argument --name: 'gcr.io/P/x' is not a valid name of an image"},
      {{"remove"}, kExitUsage, "URI"},
      {{"remove", "a b"}, kExitUsage, "argument URI: 'a b' is not a valid name of an image"},
      {{"remove", "busybox"},
       kExitFailure,
       "ERROR: (caip.images.remove) The image store has no image 'busybox:latest'. `caip images "
       "list` "
       "shows the images.\n"},
      {{"lsit"}, kExitUsage, "Invalid choice: 'lsit'"},
  };
  for (const auto& [words, exit_code, text] : cases) {
    EXPECT_EQ(Run(words), exit_code) << err_;
    EXPECT_THAT(err_, HasSubstr(text));
    EXPECT_THAT(out_, IsEmpty());
  }
}

}  // namespace
}  // namespace caip::cli
