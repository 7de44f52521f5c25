// `local predict`: gcloud's words and forms of output. The interpreter is a script that prints what
// the program of the algorithms would.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <map>

#include "base/files.h"
#include "base/text.h"
#include "emulator/cli/arguments/arguments.h"
#include "emulator/cli/commands/commands.h"
#include "emulator/cli/output.h"

namespace caip::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Words = std::vector<std::string>;

// Two objects of a model and its description, and nothing else.
class ModelConnection final : public client::Connection {
 public:
  using Connection::Send;
  Result<http::ClientResponse> Send(const http::ClientRequest& request,
                                    const client::BodySink& sink) override {
    const std::string& target = request.target;
    if (target.find("?prefix=") != std::string::npos) {
      return http::ClientResponse{200,
                                  {},
                                  R"({"items": [{"name": "j/model/model.bst", "size": "5"}, )"
                                  R"({"name": "j/model/more/x", "size": "4"}]})"};
    }
    const size_t end = target.find('?');
    const auto found = bytes_.find(target.substr(0, end));
    if (found == bytes_.end()) return http::ClientResponse{404, {}, "{}"};
    if (end == std::string::npos) return http::ClientResponse{200, {}, R"({"name": "x"})"};
    if (sink) sink(found->second);
    return http::ClientResponse{200, {}, sink ? "" : found->second};
  }
  std::string base_url() const override { return "http://nowhere.invalid"; }

 private:
  const std::map<std::string, std::string> bytes_ = {
      {"/storage/v1/b/bkt/o/j%2Fmodel%2Fmodel.bst", "model"},
      {"/storage/v1/b/bkt/o/j%2Fmodel%2Fmore%2Fx", "more"},
      {"/storage/v1/b/bkt/o/j%2Fartifacts%2Fmetadata.json", "{}"},
  };
};

class LocalPredict : public ::testing::Test {
 protected:
  // Runs the command with an interpreter that executes these lines of a shell.
  int Run(const std::string& lines, Words words) {
    out_ = err_ = "";
    const Path python = directory_.path() / "python";
    EXPECT_TRUE(WriteFile(python, "#!/bin/sh\n" + lines + "\n").ok());
    EXPECT_EQ(::chmod(python.c_str(), 0755), 0);
    words.insert(words.begin(), {"local", "predict"});
    words.insert(words.end(),
                 {"--python", python.string(), "--state", (directory_.path() / "state").string()});
    const Io io{[this](std::string_view text) { out_ += text; },
                [this](std::string_view text) { err_ += text; }};
    const Surroundings world{
        io,
        [](const app::EmulatorFlags&, app::Lifetime) {
          return Result<std::unique_ptr<client::Connection>>(std::make_unique<ModelConnection>());
        },
        nullptr};
    const Command command = ParseArguments(words);
    const auto* predict = std::get_if<LocalPredictCommand>(&command);
    if (!predict) ADD_FAILURE() << std::get<PrintCommand>(command).err;
    return predict ? RunLocalPredict(*predict, world) : -1;
  }

  TemporaryDirectory directory_;
  std::string out_;
  std::string err_;
};

constexpr const char* kTwo =
    R"(echo '{"predictions": [{"scores": [0.25, 0.75], "classes": "yes", "key": "k"}, )"
    R"({"scores": [0.5, 0.5], "classes": "no"}]}')";
const Words kWords = {"--model-dir=m", "--json-instances=i"};

Words WithFlag(Words words, const std::string& flag) {
  words.push_back(flag);
  return words;
}

// The sentences are those of gcloud 528, run with the same words.
TEST(LocalPredictFlags, AreCheckedInTheWordsOfGcloud) {
  const std::string files =
      "Exactly one of (--json-instances | --json-request | --text-instances) must be specified.\n";
  const struct {
    Words more;
    std::string complaint;
  } cases[] = {
      {{"--model-dir=m"}, files},
      {{"--model-dir=m", "--text-instances=a", "--json-instances=b"},
       "argument --json-instances: " + files},
      {{"--json-instances=b"}, "argument --model-dir: Must be specified.\n"},
      {{"--model-dir=m", "--json-request=a", "--framework=keras"},
       "argument --framework: Invalid choice: 'keras'.\n\nValid choices are [scikit-learn, "
       "tensorflow, xgboost].\n"},
  };
  for (const auto& one : cases) {
    Words words = {"ai-platform", "local", "predict"};
    words.insert(words.end(), one.more.begin(), one.more.end());
    const Command command = ParseArguments(words);
    const auto* print = std::get_if<PrintCommand>(&command);
    ASSERT_NE(print, nullptr);
    EXPECT_EQ(print->exit_code, kExitUsage);
    EXPECT_THAT(print->err, ::testing::StartsWith("ERROR: (caip.local.predict) " + one.complaint));
  }
}

// The texts are those of gcloud 528's printer for the same predictions.
TEST_F(LocalPredict, PrintsTheTableOfGcloud) {
  EXPECT_EQ(Run(kTwo, kWords), kExitSuccess);
  EXPECT_EQ(out_,
            "CLASSES  KEY  SCORES\n"
            "yes      k    [0.25, 0.75]\n"
            "no            [0.5, 0.5]\n");
  EXPECT_EQ(
      Run(R"(echo '{"predictions": [{"predictions": 1.5}, {"predictions": 22.25}]}')", kWords),
      kExitSuccess);
  EXPECT_EQ(out_, "PREDICTIONS\n1.5\n22.25\n");
}

TEST_F(LocalPredict, TakesFormats) {
  EXPECT_EQ(Run(kTwo, WithFlag(kWords, "--format=value(predictions.classes)")), kExitSuccess);
  EXPECT_EQ(out_, "yes;no\n");
  EXPECT_EQ(Run(kTwo, WithFlag(kWords, "--format=yaml(predictions[].classes)")), kExitSuccess);
  EXPECT_THAT(out_, HasSubstr("classes: yes\n"));
  EXPECT_EQ(Run(kTwo, WithFlag(kWords, "--format=json")), kExitSuccess);
  EXPECT_THAT(out_, HasSubstr("\n      \"key\": \"k\",\n"));
}

TEST_F(LocalPredict, SaysThatTheSignatureHasAName) {
  EXPECT_EQ(Run(kTwo, kWords), kExitSuccess);
  EXPECT_EQ(err_,
            "If the signature defined in the model is not serving_default then you must specify it "
            "via --signature-name flag, otherwise the command may fail.\n");
  EXPECT_EQ(Run(kTwo, WithFlag(kWords, "--signature-name=other")), kExitSuccess);
  EXPECT_THAT(err_, IsEmpty());
}

TEST_F(LocalPredict, GivesAllFlagsToTheProgram) {
  const std::string kept = (directory_.path() / "words").string();
  EXPECT_EQ(
      Run("for word; do echo \"$word\"; done > " + kept + "\n" + kTwo,
          {"--model-dir=m", "--text-instances=-", "--framework=xgboost", "--signature-name=s"}),
      kExitSuccess);
  Words words = Split(*ReadFile(kept), '\n');
  words.erase(words.begin());  // the program
  EXPECT_THAT(words, ::testing::ElementsAre("predict", "--model-dir=m", "--shown-as=m",
                                            "--framework=xgboost", "--signature-name=s",
                                            "--text-instances=-", ""));
}

TEST_F(LocalPredict, EndsAsTheProgramDoes) {
  EXPECT_EQ(Run("exit 1", kWords), 1);
  EXPECT_EQ(Run("kill -9 $$", kWords), 128 + 9);
  EXPECT_THAT(out_, IsEmpty());
}

// The program gets no address and no token: the connection of the command has both.
TEST_F(LocalPredict, GivesTheProgramACopyOfTheModel) {
  const std::string kept = (directory_.path() / "files").string();
  EXPECT_EQ(Run("dir=${3#--model-dir=}\ncat $dir/model.bst $dir/more/x "
                "${dir%/model}/artifacts/metadata.json > " +
                    kept + "\necho $4 $STORAGE_EMULATOR_HOST >> " + kept + "\n" + kTwo,
                {"--model-dir=gs://bkt/j/model/", "--json-instances=i"}),
            kExitSuccess)
      << err_;
  EXPECT_EQ(*ReadFile(kept), "modelmore{}--shown-as=gs://bkt/j/model/\n");
}

}  // namespace
}  // namespace caip::cli
