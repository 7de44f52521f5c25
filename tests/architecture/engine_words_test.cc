// Proves that the engine and the run specification know no API: neither their code nor their
// comments contain a word of AI Platform Training.

#include <gtest/gtest.h>
#include <re2/re2.h>

#include <string>

#include "tests/architecture/sources.h"

namespace caip::architecture {
namespace {

const RE2 kWordsOfAnApi(
    R"re(\bml::|"(ml|google|vertex|emulator)/|TrainingInput|[Tt]raining_?[Ii]nput)re"
    R"re(|[Ss]cale ?[Tt]ier|[Hh]yperparameter|TF_CONFIG|CLUSTER_SPEC|TensorFlow|cloudml)re"
    R"re(|AI Platform|Vertex|\b[Mm]asters?\b|\bmasterConfig\b|\bchief\b)re"
    R"re(|"(worker|ps|evaluator)"|[Jj]ob_?[Dd]ir\b)re"
    R"re(|max(Running|Wait)Time|maxFailedTrials|resumePreviousJobId)re"
    R"re(|cmle|runtime_?[Vv]ersion)re");

// A page of the documentation that a comment cites, and member names of the note, which stay as
// versions before 0.2 wrote them.
const RE2 kExcused(R"re(docs/service/[a-z-]+\.md|"hyperparameters"|"seenJobDir")re");

TEST(EngineWords, NameNoApi) {
  size_t files = 0;
  for (const SourceFile& file : SourcesBelow({"src/engine", "src/run"})) {
    ++files;
    for (size_t i = 0; i < file.lines.size(); ++i) {
      std::string line = file.lines[i];
      RE2::GlobalReplace(&line, kExcused, "");
      EXPECT_FALSE(RE2::PartialMatch(line, kWordsOfAnApi))
          << file.name << ":" << i + 1 << ": " << file.lines[i] << "\n  belongs to an API";
    }
  }
  EXPECT_GT(files, 30u) << "the folders have moved";
}

}  // namespace
}  // namespace caip::architecture
