// `caip ls`, `cp`, `cat`, `rm` and `buckets rm`, as users call them.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "tests/support/caip_command.h"

namespace caip::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class StorageCommands : public ::testing::Test {
 protected:
  StorageCommands() { EXPECT_EQ(caip_.Run({"buckets", "create", "bkt"}).exit_code, 0); }

  // A file of this host below the test's folder.
  std::string Local(const std::string& name, const std::string& text) const {
    const Path file = folder_.path() / name;
    EXPECT_TRUE(MakeDirectories(file.parent_path()).ok());
    EXPECT_TRUE(WriteFile(file, text).ok());
    return file.string();
  }
  std::string TextOf(const std::string& name) const {
    const auto text = ReadFile(folder_.path() / name);
    return text.ok() ? *text : "(missing)";
  }
  std::string In(const std::string& name) const { return (folder_.path() / name).string(); }
  void Put(const std::string& object, const std::string& text) const {
    EXPECT_EQ(caip_.Run({"cp", Local("put", text), "gs://bkt/" + object}).exit_code, 0);
  }
  std::string Listed(std::vector<std::string> words) const {
    words.insert(words.begin(), "ls");
    const Transcript run = caip_.Run(words);
    EXPECT_EQ(run.exit_code, 0) << run.err;
    return run.out;
  }

  CaipCommand caip_;
  TemporaryDirectory folder_;
};

TEST_F(StorageCommands, ListBucketsFoldersAndObjects) {
  Put("a.txt", "1");
  Put("dir/b.txt", "22");
  Put("dir/deep/c.txt", "333");
  EXPECT_EQ(Listed({}), "gs://bkt/\n");
  EXPECT_EQ(Listed({"gs://bkt"}), "gs://bkt/dir/\ngs://bkt/a.txt\n");
  EXPECT_EQ(Listed({"gs://bkt/dir"}), "gs://bkt/dir/deep/\ngs://bkt/dir/b.txt\n");
  EXPECT_EQ(Listed({"gs://bkt/a.txt"}), "gs://bkt/a.txt\n");
  EXPECT_EQ(Listed({"-r", "gs://bkt/dir/"}), "gs://bkt/dir/b.txt\ngs://bkt/dir/deep/c.txt\n");
  EXPECT_EQ(Listed({"gs://bkt/*/*.txt"}), "gs://bkt/dir/b.txt\n");
  EXPECT_EQ(Listed({"gs://bkt/**.txt"}),
            "gs://bkt/a.txt\ngs://bkt/dir/b.txt\ngs://bkt/dir/deep/c.txt\n");
  EXPECT_THAT(Listed({"-l", "gs://bkt/a.txt"}),
              ::testing::MatchesRegex(" +1  20..-..-..T..:..:..Z gs://bkt/a.txt\n"
                                      "TOTAL: 1 object, 1 byte\n"));
}

TEST_F(StorageCommands, CopyOneFileBothWays) {
  EXPECT_EQ(caip_.Run({"cp", Local("x.txt", "text"), "gs://bkt/in/"}).exit_code, 0);
  EXPECT_EQ(Listed({"-r", "gs://bkt"}), "gs://bkt/in/x.txt\n");
  const Transcript back = caip_.Run({"cp", "gs://bkt/in/x.txt", In("back")});
  EXPECT_EQ(back.exit_code, 0) << back.err;
  EXPECT_EQ(back.err, "Copied 1 file (4 bytes).\n");
  EXPECT_EQ(TextOf("back"), "text");
  EXPECT_EQ(caip_.Run({"cp", "gs://bkt/in/x.txt", "gs://bkt/copy"}).exit_code, 0);
  EXPECT_THAT(caip_.Run({"cat", "gs://bkt/copy", "gs://bkt/in/x.txt"}).out, HasSubstr("texttext"));
}

TEST_F(StorageCommands, CopyTreesIntoFoldersThatExistAndAsFoldersThatDoNot) {
  Local("model/weights", "w");
  Local("model/deep/bias", "b");
  EXPECT_EQ(caip_.Run({"cp", "-r", In("model"), "gs://bkt/new"}).exit_code, 0);
  EXPECT_EQ(Listed({"-r", "gs://bkt"}), "gs://bkt/new/deep/bias\ngs://bkt/new/weights\n");
  EXPECT_EQ(caip_.Run({"cp", "-r", In("model"), "gs://bkt/new"}).exit_code, 0);
  EXPECT_EQ(Listed({"-r", "gs://bkt/new/model"}),
            "gs://bkt/new/model/deep/bias\ngs://bkt/new/model/weights\n");
  EXPECT_EQ(caip_.Run({"cp", "-r", "gs://bkt/new/model", In("fresh")}).exit_code, 0);
  EXPECT_EQ(TextOf("fresh/deep/bias"), "b");
  EXPECT_EQ(caip_.Run({"cp", "-r", "gs://bkt/new/model", folder_.path().string()}).exit_code, 0);
  EXPECT_EQ(TextOf("model/weights"), "w");
}

TEST_F(StorageCommands, CopyNothingIfASourceIsMissing) {
  const Transcript run = caip_.Run({"cp", Local("x", "1"), In("missing"), "gs://bkt/to/"});
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_THAT(run.err, HasSubstr("(caip.cp) The file " + In("missing") + " does not exist."));
  EXPECT_EQ(Listed({"gs://bkt"}), "");
  EXPECT_THAT(caip_.Run({"cp", "gs://bkt/none", In("y")}).err,
              HasSubstr("No object or folder matches gs://bkt/none."));
  EXPECT_EQ(TextOf("y"), "(missing)");
}

TEST_F(StorageCommands, SayWhatADirectoryNeeds) {
  Local("dir/x", "1");
  Put("folder/x", "1");
  Put("folder/y", "1");
  EXPECT_THAT(caip_.Run({"cp", In("dir"), "gs://bkt/"}).err, HasSubstr("Give -r"));
  EXPECT_THAT(caip_.Run({"cp", "gs://bkt/folder", In("z")}).err, HasSubstr("is a folder. Give -r"));
  EXPECT_THAT(caip_.Run({"rm", "gs://bkt/folder"}).err, HasSubstr("is a folder. Give -r"));
  EXPECT_THAT(caip_.Run({"cp", "gs://bkt/folder/*", In("z")}).err,
              HasSubstr("is not a directory, and 2 files"));
  EXPECT_EQ(caip_.Run({"cp", In("a"), In("b")}).exit_code, 2);
  EXPECT_EQ(caip_.Run({"cp", In("a")}).exit_code, 2);
  EXPECT_EQ(caip_.Run({"cat", "x"}).exit_code, 2);
}

// Names of objects may be anything; files of this host stay where they belong.
TEST_F(StorageCommands, NeverWriteOutsideTheDestination) {
  Put("evil/../../outside", "1");
  const Transcript run = caip_.Run({"cp", "-r", "gs://bkt/evil", In("in/here")});
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_THAT(run.err, HasSubstr("cannot be a file in"));
  EXPECT_FALSE(fs::exists(In("outside")));
  EXPECT_FALSE(fs::exists(In("in")));
}

TEST_F(StorageCommands, KeepTheOldFileIfTheSourceIsMissingAndLeaveNothingBesideTheNewOne) {
  Put("x", "new");
  const std::string old = Local("dir/x", "old");
  EXPECT_EQ(caip_.Run({"cp", "gs://bkt/missing", old}).exit_code, 1);
  EXPECT_EQ(TextOf("dir/x"), "old");
  EXPECT_EQ(caip_.Run({"cp", "gs://bkt/x", old}).exit_code, 0);
  EXPECT_EQ(TextOf("dir/x"), "new");
  size_t entries = 0;
  for ([[maybe_unused]] const auto& entry : fs::directory_iterator(In("dir"))) ++entries;
  EXPECT_EQ(entries, 1u);
}

TEST_F(StorageCommands, RemoveObjectsFoldersAndBuckets) {
  for (const char* name : {"a", "b/1", "b/2", "c"}) Put(name, "x");
  EXPECT_EQ(caip_.Run({"rm", "gs://bkt/a", "gs://bkt/none"}).exit_code, 1);
  EXPECT_EQ(Listed({"gs://bkt/a"}), "gs://bkt/a\n") << "nothing is removed if one is missing";
  EXPECT_EQ(caip_.Run({"rm", "gs://bkt/a"}).err, "Removed 1 object.\n");
  EXPECT_EQ(caip_.Run({"rm", "-r", "gs://bkt/b"}).err, "Removed 2 objects.\n");
  const Transcript refused = caip_.Run({"buckets", "rm", "bkt"});
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_THAT(refused.err, HasSubstr("gs://bkt is not empty. Give -r"));
  EXPECT_EQ(caip_.Run({"buckets", "rm", "-r", "gs://bkt"}).err, "Removed gs://bkt.\n");
  EXPECT_THAT(Listed({}), IsEmpty());
  EXPECT_EQ(caip_.Run({"buckets", "rm", "bkt"}).exit_code, 1);
}

TEST_F(StorageCommands, WriteThroughLinksAndIntoDevicesAndPipes) {
  Put("x", "new");
  const std::string target = Local("target", "old");
  fs::permissions(target, fs::perms::owner_all);
  fs::create_symlink("target", In("link"));
  fs::create_symlink("/dev/null", In("null"));
  EXPECT_EQ(caip_.Run({"cp", "gs://bkt/x", In("link")}).exit_code, 0);
  EXPECT_TRUE(fs::is_symlink(In("link")));
  EXPECT_EQ(TextOf("target"), "new");
  EXPECT_EQ(fs::status(target).permissions(), fs::perms::owner_all);
  EXPECT_EQ(caip_.Run({"cp", "gs://bkt/x", In("null")}).exit_code, 0);
  EXPECT_TRUE(fs::is_character_file(In("null")));
}

TEST_F(StorageCommands, ReadFilesThatDoNotSayTheirSize) {
  const Transcript run = caip_.Run({"cp", "/proc/version", "gs://bkt/version"});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(run.err, "Copied 1 file.\n");
  EXPECT_THAT(caip_.Run({"cat", "gs://bkt/version"}).out, HasSubstr("Linux"));
  EXPECT_EQ(caip_.Run({"cp", Local("empty", ""), "gs://bkt/empty"}).exit_code, 0);
  EXPECT_EQ(caip_.Run({"cp", "gs://bkt/empty", In("back")}).exit_code, 0);
  EXPECT_EQ(TextOf("back"), "");
}

TEST_F(StorageCommands, LoseNoFileWhereSeveralWouldHaveOneName) {
  Local("a/x", "A");
  Local("b/x", "B");
  EXPECT_EQ(caip_.Run({"cp", "-r", In("a"), In("b"), "gs://bkt/new"}).exit_code, 0);
  EXPECT_EQ(Listed({"-r", "gs://bkt"}), "gs://bkt/new/a/x\ngs://bkt/new/b/x\n");
  EXPECT_THAT(caip_.Run({"cp", "gs://bkt/new/**", "gs://bkt/flat/"}).err,
              HasSubstr("Two of the sources would become gs://bkt/flat/x."));
  EXPECT_EQ(caip_.Run({"cp", "-r", "gs://bkt/new", "-"}).out.substr(0, 2), "AB");
}

TEST_F(StorageCommands, MatchFoldersToo) {
  for (const char* name : {"job_1/a", "job_2/b/c", "other/d"}) Put(name, "x");
  EXPECT_EQ(Listed({"gs://bkt/job_*"}), "gs://bkt/job_1/\ngs://bkt/job_2/\n");
  EXPECT_THAT(caip_.Run({"rm", "gs://bkt/job_*"}).err, HasSubstr("Give -r"));
  EXPECT_EQ(caip_.Run({"cp", "-r", "gs://bkt/job_*", "gs://bkt/kept/"}).exit_code, 0);
  EXPECT_EQ(Listed({"-r", "gs://bkt/kept"}), "gs://bkt/kept/job_1/a\ngs://bkt/kept/job_2/b/c\n");
  EXPECT_EQ(caip_.Run({"rm", "-r", "gs://bkt/job_*"}).err, "Removed 2 objects.\n");
  EXPECT_EQ(Listed({"gs://bkt"}), "gs://bkt/kept/\ngs://bkt/other/\n");
}

// Consoles make an object "dir/" for a new folder.
TEST_F(StorageCommands, CopyAFolderWithoutTheObjectThatStandsForIt) {
  Put("dir/one", "1");
  const std::string program =
      Local("make.py",
            "import os, urllib.request\n"
            "urllib.request.urlopen(os.environ['STORAGE_EMULATOR_HOST'] + "
            "'/upload/storage/v1/b/bkt/o?uploadType=media&name=dir%2F', b'')\n");
  const Transcript made = caip_.Run(
      {"jobs", "submit", "training", "make", "--region", "us-central1", "--master-image-uri",
       "gcr.io/p/make", "--map-image", "gcr.io/p/make=python3 " + program, "--stream-logs"});
  ASSERT_EQ(made.exit_code, 0) << made.err;
  EXPECT_EQ(Listed({"-r", "gs://bkt"}), "gs://bkt/dir/\ngs://bkt/dir/one\n");
  fs::create_directory(In("out"));
  EXPECT_EQ(caip_.Run({"cp", "-r", "gs://bkt/dir/", In("out")}).exit_code, 0);
  EXPECT_EQ(TextOf("out/dir/one"), "1");
}

}  // namespace
}  // namespace caip::testing
