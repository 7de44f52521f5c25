// Trainers in Python, in images that are made here from the Python of the host's Debian packages:
// nothing is downloaded. Each role has an image of its own.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>

#include "base/text.h"
#include "host/machine/machines.h"
#include "places.h"
#include "tests/support/caip_command.h"
#include "tests/support/oci_layout.h"

namespace caip::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

// The files of Python and of the libraries that it loads, without documentation and tests.
constexpr char kCopyPython[] = R"sh(set -e
python=$(basename "$(readlink -f /usr/bin/python3)")
dpkg -L "$python-minimal" "lib$python-minimal" "lib$python-stdlib" libc6 zlib1g libexpat1 libssl3 \
    libffi8 liblzma5 libbz2-1.0 | grep -v -e /usr/share -e /test -e idlelib |
  sed -E 's#^/(lib|lib64)(/|$)#/usr/\1\2#' | sort -u |
  tar -C / --no-recursion -T - -cf - 2>/dev/null | tar -C "$1" -xf -
ln -s usr/lib usr/lib64 "$1"
ln -s "$python" "$1/usr/bin/python3"
)sh";

// Prints what it is, and does what its first argument says.
constexpr char kTrainer[] = R"py(import json, os, sys, urllib.request
task = json.loads(os.environ['TF_CONFIG'])['task']
image = open('/app/name').read()
print('role', task['type'], task['index'], 'runs', image, 'with', *sys.argv[1:], flush=True)
def read(url, **more):
    return urllib.request.urlopen(urllib.request.Request(url, **more), timeout=60).read().decode()
if '--copy' in sys.argv:
    data = read('https://storage.googleapis.com/bkt-1/data.txt')
    endpoint = os.environ['STORAGE_EMULATOR_HOST']
    read(endpoint + '/upload/storage/v1/b/bkt-1/o?uploadType=media&name=model/copy.txt',
         data=data.upper().encode(), method='POST')
if '--rate' in sys.argv:
    rate = float(sys.argv[sys.argv.index('--rate') + 1])
    with open(os.environ['CLOUD_ML_HP_METRIC_FILE'], 'a') as file:
        file.write(json.dumps({'score': str(rate * 2), 'global_step': '1', 'timestamp': 1.0,
                               'trial': os.environ['CLOUD_ML_TRIAL_ID']}) + '\n')
)py";

class PythonImageJobs : public ::testing::Test {
 protected:
  void SetUp() override {
    const TemporaryDirectory trial("caip-trial-");
    const auto why_not = host::TryMachine(Path(CAIP_BINARY_DIR) / "caip-launcher", trial.path());
    if (why_not) GTEST_SKIP() << "replicas cannot have machines here: " << *why_not;
    if (!CopyPython()) GTEST_SKIP() << "the Python of this host is not one of Debian's packages";
  }
  /// Makes an image whose trainer says that it runs `name`. Returns the mapping of
  /// gcr.io/demo/NAME.
  std::string MakeImage(const std::string& name, Json config = Json::object()) {
    const TemporaryDirectory app("caip-layer-");
    EXPECT_TRUE(MakeDirectories(app.path() / "app").ok());
    EXPECT_TRUE(WriteFile(app.path() / "app/task.py", kTrainer).ok());
    EXPECT_TRUE(WriteFile(app.path() / "app/name", name).ok());
    OciLayout& layout = layouts_[name];
    layout.AddLayer(python_.path());
    layout.AddLayer(app.path());
    if (config.empty()) config["Entrypoint"] = {"python3", "-m", "task"};
    config["WorkingDir"] = "/app";
    layout.Finish(config);
    return "gcr.io/demo/" + name + "=oci:" + layout.Directory().string();
  }
  /// Submits the job of a configuration, waits for its end, and returns what it printed.
  Transcript Submit(const std::string& job, const std::string& training_input,
                    std::vector<std::string> more) {
    const Path config = files_.path() / (job + ".yaml");
    EXPECT_TRUE(WriteFile(config, "trainingInput:\n" + training_input).ok());
    std::vector<std::string> words = {"jobs",     "submit",        "training",
                                      job,        "--region",      "us-central1",
                                      "--config", config.string(), "--stream-logs"};
    words.insert(words.end(), more.begin(), more.end());
    return caip_.Run(words);
  }

  CaipCommand caip_;

 private:
  bool CopyPython() const {
    const Path script = files_.path() / "copy.sh";
    EXPECT_TRUE(WriteFile(script, kCopyPython).ok());
    const std::string command =
        "sh '" + script.string() + "' '" + python_.path().string() + "' 2>/dev/null";
    return std::system(command.c_str()) == 0;
  }

  TemporaryDirectory files_{"caip-files-"};
  TemporaryDirectory python_{"caip-python-"};
  std::map<std::string, OciLayout> layouts_;
};

constexpr char kOneMaster[] = "  masterConfig: {imageUri: gcr.io/demo/trainer}\n";

TEST_F(PythonImageJobs, ReadAndWriteCloudStorageAsTheLibrariesDo) {
  ASSERT_EQ(caip_.Run({"buckets", "create", "bkt-1"}).exit_code, 0);
  ASSERT_TRUE(WriteFile(caip_.BucketFile("bkt-1", "data.txt"), "some data").ok());
  const Transcript run =
      Submit("copies", kOneMaster, {"--map-image", MakeImage("trainer"), "--", "--copy"});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(*ReadFile(caip_.BucketFile("bkt-1", "model/copy.txt")), "SOME DATA");
}

TEST_F(PythonImageJobs, RunEachRoleFromItsOwnImage) {
  const Transcript run =
      Submit("roles",
             "  scaleTier: CUSTOM\n  masterType: n1-standard-4\n  workerType: n1-standard-4\n"
             "  workerCount: 2\n  evaluatorType: n1-standard-4\n  evaluatorCount: 1\n"
             "  useChiefInTfConfig: true\n"
             "  masterConfig: {imageUri: gcr.io/demo/lead}\n"
             "  workerConfig: {imageUri: gcr.io/demo/helper}\n"
             "  evaluatorConfig: {imageUri: gcr.io/demo/judge}\n",
             {"--map-image", MakeImage("lead"), "--map-image", MakeImage("helper"), "--map-image",
              MakeImage("judge")});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  const auto has_run = [this](const std::string& line) {
    return Eventually([&] { return caip_.LogOf("roles").find(line) != std::string::npos; });
  };
  EXPECT_TRUE(has_run("role chief 0 runs lead")) << caip_.LogOf("roles");
  EXPECT_THAT(caip_.LogOf("roles"), AllOf(HasSubstr("gcr.io/demo/helper' is sha256:"),
                                          HasSubstr("gcr.io/demo/judge' is sha256:")));
}

struct WordsCase {
  const char* job;
  const char* config;              // of the image
  const char* master;              // of the job
  std::vector<std::string> words;  // of the command line
  const char* printed;
};

// Docker's and Kubernetes' table: command replaces ENTRYPOINT, any arguments replace CMD.
TEST_F(PythonImageJobs, CombineTheWordsOfTheImageAndOfTheJob) {
  const std::vector<WordsCase> kCases = {
      {"image", R"({"Entrypoint":["python3","-m","task"],"Cmd":["cmd"]})", "", {}, "with cmd"},
      {"arguments",
       R"({"Entrypoint":["python3","-m","task"],"Cmd":["cmd"]})",
       "",
       {"--", "a", "b c"},
       "with a b c"},
      {"container_args",
       R"({"Entrypoint":["python3","-m","task"],"Cmd":["cmd"]})",
       ", containerArgs: [u, v]",
       {},
       "with u v"},
      {"container_command",
       R"({"Entrypoint":["/bin/false"],"Cmd":["cmd"]})",
       ", containerCommand: [python3, /app/task.py]",
       {},
       "runs trainer with\n"},
      {"both",
       R"({"Entrypoint":["/bin/false"]})",
       ", containerCommand: [python3, task.py], containerArgs: [z]",
       {},
       "with z"},
      {"only_cmd", R"({"Cmd":["python3","task.py","c"]})", "", {}, "with c"}};
  for (const WordsCase& known : kCases) {
    const std::string mapping = MakeImage("trainer", *ParseJson(known.config));
    std::vector<std::string> more = {"--map-image", mapping};
    more.insert(more.end(), known.words.begin(), known.words.end());
    const Transcript run = Submit(
        known.job,
        "  masterConfig: {imageUri: gcr.io/demo/trainer" + std::string(known.master) + "}\n", more);
    EXPECT_EQ(run.exit_code, 0) << known.job << ": " << run.err;
    EXPECT_THAT(caip_.LogOf(known.job), HasSubstr(known.printed)) << known.job;
  }
}

TEST_F(PythonImageJobs, AreTuned) {
  const Transcript run =
      Submit("tuned",
             std::string(kOneMaster) +
                 "  hyperparameters:\n    goal: MAXIMIZE\n    hyperparameterMetricTag: score\n"
                 "    maxTrials: 3\n    maxParallelTrials: 2\n    params:\n"
                 "    - {parameterName: rate, type: DOUBLE, minValue: 1, maxValue: 2}\n",
             {"--map-image", MakeImage("trainer")});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  const Json job = caip_.Describe("tuned");
  const Json* output = Member(job, "trainingOutput");
  const Json* trials = output ? Member(*output, "trials") : nullptr;
  ASSERT_TRUE(trials && trials->size() == 3) << CompactJson(job);
  for (const Json& trial : *trials) {
    const double rate = std::atof(StringOr(trial["hyperparameters"], "rate").c_str());
    EXPECT_DOUBLE_EQ(trial["finalMetric"]["objectiveValue"].get<double>(), rate * 2);
  }
}

}  // namespace
}  // namespace caip::testing
