#include "migration/report.h"

#include <algorithm>
#include <set>
#include <vector>

#include "base/json.h"
#include "base/quoting.h"
#include "base/text.h"
#include "migration/errors.h"

namespace caip::migration {
namespace {

constexpr std::string_view kStandardInput = "/dev/stdin";
constexpr std::string_view kEndOfFile = "END_OF_JOB";
// No character of URIs, module names and most arguments, in the order of preference.
constexpr std::string_view kSeparators = ",;|:#@!~+";

const Json& ProgramOf(const Json& pool) {
  const Json* container = Member(pool, "containerSpec");
  return container ? *container : *Member(pool, "pythonPackageSpec");
}

std::vector<std::string> WordsOf(const Json& program, const char* field) {
  const Json* words = Member(program, field);
  return words ? words->get<std::vector<std::string>>() : std::vector<std::string>{};
}

// "a,b", or "^;^a,b;c": gcloud's syntax for lists whose words have commas. "": no separator is
// left.
std::string ListText(const std::vector<std::string>& words) {
  const auto is_free = [&](char separator) {
    return std::none_of(words.begin(), words.end(), [&](const std::string& word) {
      return word.find(separator) != std::string::npos;
    });
  };
  const bool needs_mark = !words.empty() && words.front().starts_with('^');
  for (const char separator : kSeparators) {
    if (!is_free(separator)) continue;
    const std::string mark(1, separator);
    const bool is_plain = separator == ',' && !needs_mark;
    return (is_plain ? "" : "^" + mark + "^") + Join(words, mark);
  }
  return "";
}

/// The pools of a job as flags, which say less than a file.
class PoolFlags {
 public:
  explicit PoolFlags(const Json& pools) : pools_(pools) {}

  Result<std::vector<std::string>> Run() {
    std::vector<std::string> flags;
    for (size_t i = 0; i < pools_.size(); ++i) flags.push_back(PoolFlag(pools_[i], i));
    const Json& first = ProgramOf(pools_.front());
    AddList("--python-package-uris", WordsOf(first, "packageUris"), flags);
    AddList("--args", WordsOf(first, "args"), flags);
    AddList("--command", WordsOf(first, "command"), flags);
    if (!missing_.empty()) return errors::NoFlagsFor(missing_);
    return flags;
  }

 private:
  std::string PoolFlag(const Json& pool, size_t index) {
    if (pool.empty()) return "--worker-pool-spec=";
    if (Member(pool, "diskSpec")) missing_.push_back(errors::DiskHasNoFlag(index));
    const Json& program = ProgramOf(pool);
    const Json& first = ProgramOf(pools_.front());
    for (const char* field : {"args", "command", "packageUris"}) {
      if (WordsOf(program, field) == WordsOf(first, field)) continue;
      const std::string fact = errors::ProgramsDiffer();
      if (std::find(missing_.begin(), missing_.end(), fact) == missing_.end()) {
        missing_.push_back(fact);
      }
    }
    const Json& machine = *Member(pool, "machineSpec");
    std::string keys = "machine-type=" + StringOr(machine, "machineType") +
                       ",replica-count=" + std::to_string(IntOr(pool, "replicaCount", 1));
    if (Member(machine, "acceleratorType")) {
      keys += ",accelerator-type=" + StringOr(machine, "acceleratorType") +
              ",accelerator-count=" + std::to_string(IntOr(machine, "acceleratorCount", 1));
    }
    keys += Member(pool, "containerSpec")
                ? ",container-image-uri=" + StringOr(program, "imageUri")
                : ",executor-image-uri=" + StringOr(program, "executorImageUri") +
                      ",python-module=" + StringOr(program, "pythonModule");
    return "--worker-pool-spec=" + keys;
  }

  void AddList(const std::string& flag, const std::vector<std::string>& words,
               std::vector<std::string>& flags) {
    if (words.empty()) return;
    std::set<std::string> seen;
    for (const std::string& word : words) {
      if (flag != "--python-package-uris" && !seen.insert(word).second) {
        missing_.push_back(errors::WordRepeated(word));
      }
    }
    const std::string text = ListText(words);
    if (text.empty()) missing_.push_back(errors::NoSeparatorLeft(flag));
    flags.push_back(flag + "=" + text);
  }

  const Json& pools_;
  std::vector<std::string> missing_;  // what has no flag
};

std::string LabelsText(const MigratedJob& job) {
  std::vector<std::string> labels;
  for (const auto& [key, value] : job.labels) labels.push_back(key + "=" + value);
  return Join(labels, ",");
}

std::string WithFile(const std::string& command, const std::string& text) {
  return command + " <<'" + std::string(kEndOfFile) + "'\n" + text + std::string(kEndOfFile) + "\n";
}

}  // namespace

std::string DifferencesText(const MigratedJob& job) {
  std::string text;
  for (const Difference& difference : job.differences) {
    text += "  " + difference.subject + "\n    AI Platform: " + difference.ai_platform +
            "\n    Vertex AI:   " + difference.vertex + "\n";
  }
  return text;
}

std::string CreateLine(const MigratedJob& job, std::string_view program, std::string_view file) {
  std::string line = std::string(program) + " ai " +
                     (job.is_tuning ? "hp-tuning-jobs" : "custom-jobs") + " create --region " +
                     ShellQuoted(job.region) + " --display-name " + ShellQuoted(job.display_name);
  if (!job.is_tuning && !job.labels.empty()) line += " --labels " + ShellQuoted(LabelsText(job));
  if (!job.is_tuning && !job.kms_key.empty()) line += " --kms-key " + ShellQuoted(job.kms_key);
  return line + (file.empty() ? "" : " --config " + ShellQuoted(file));
}

Result<std::string> CreateCommand(const MigratedJob& job, std::string_view program,
                                  std::string (*to_yaml)(const Json& value)) {
  if (job.is_tuning || !job.skips_pools) {
    return WithFile(CreateLine(job, program, kStandardInput), to_yaml(job.file));
  }
  Json rest = job.file;
  rest.erase("workerPoolSpecs");
  ASSIGN_OR_RETURN(const std::vector<std::string> flags,
                   PoolFlags(*Member(job.file, "workerPoolSpecs")).Run());
  std::string line = CreateLine(job, program, rest.empty() ? "" : kStandardInput);
  for (const std::string& flag : flags) line += " \\\n    " + ShellQuoted(flag);
  return rest.empty() ? line + "\n" : WithFile(line, to_yaml(rest));
}

}  // namespace caip::migration
