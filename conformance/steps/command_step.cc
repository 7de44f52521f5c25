#include <filesystem>
#include <fstream>

#include "conformance/format/received_json.h"
#include "conformance/problems.h"
#include "conformance/steps/steps.h"
#include "conformance/wire/child.h"
#include "conformance/wire/recorder.h"

namespace conform {
namespace {

namespace fs = std::filesystem;
constexpr const char* kProbeMark = "CAIP-PROBE ";

// A folder that is deleted with the object.
class Folder {
 public:
  explicit Folder(const std::string& path) : path_(path) { fs::create_directories(path_); }
  Folder(const Folder&) = delete;
  ~Folder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

std::optional<Problem> WriteFiles(const fs::path& folder, const Json& files) {
  for (const auto& [name, text] : files.items()) {
    const fs::path file = folder / name;
    std::error_code code;
    fs::create_directories(file.parent_path(), code);
    std::ofstream stream(file, std::ios::binary);
    stream << (text.is_string() ? text.get<std::string>() : text.dump());
    if (!stream) return problems::FileUnwritable(file.string());
  }
  return std::nullopt;
}

// The replica of a local cluster that printed a record.
std::string NameOf(const Json& record) {
  const std::string text = record.value("/env/TF_CONFIG"_json_pointer, "");
  const Json config = ParseReceived(text);
  if (!config.is_object() || !config.contains("task")) return "none";
  const Json& task = config["task"];
  if (!task.contains("type")) return "single";
  return task["type"].get<std::string>() + "-" + task.value("index", Json(0)).dump();
}

Json RecordsIn(const std::string& out) {
  Json replicas = Json::object();
  std::istringstream lines(out);
  for (std::string line; std::getline(lines, line);) {
    const size_t mark = line.find(kProbeMark);
    if (mark == std::string::npos) continue;
    Json record = ParseReceived(line.substr(mark + std::string(kProbeMark).size()));
    if (record.is_object()) replicas[NameOf(record)].push_back(std::move(record));
  }
  return replicas;
}

}  // namespace

std::map<std::string, std::string> EndpointEnvironment(const std::string& url,
                                                       const std::string& project,
                                                       const std::string& home) {
  return {{"CAIP_ENDPOINT", url},
          {"CLOUDSDK_CONFIG", home},
          {"CLOUDSDK_API_ENDPOINT_OVERRIDES_ML", url + "/"},
          {"CLOUDSDK_API_ENDPOINT_OVERRIDES_AIPLATFORM", url + "/"},
          {"CLOUDSDK_API_ENDPOINT_OVERRIDES_STORAGE", url + "/storage/v1/"},
          {"CLOUDSDK_API_ENDPOINT_OVERRIDES_LOGGING", url + "/"},
          {"CLOUDSDK_AUTH_DISABLE_CREDENTIALS", "true"},
          {"CLOUDSDK_CORE_PROJECT", project},
          {"CLOUDSDK_CORE_DISABLE_PROMPTS", "1"},
          {"CLOUDSDK_CORE_DISABLE_USAGE_REPORTING", "true"},
          {"CLOUDSDK_SURVEY_DISABLE_PROMPTS", "true"},
          {"CLOUDSDK_COMPONENT_MANAGER_DISABLE_UPDATE_CHECK", "true"}};
}

Result<Json> RunCommand(Scope& scope, const Json& step) {
  const World& world = scope.world();
  const Folder folder(world.scratch + "/" + scope.Filled("${fresh}").value().get<std::string>());
  const fs::path work = folder.path() / "work";
  fs::create_directories(work);
  if (auto problem = WriteFiles(work, step.value("files", Json::object()))) return *problem;
  if (auto problem = WriteFiles(folder.path(), {{"config/gce", "False"}})) return *problem;
  auto recorder = Recorder::Start(step.value("reply", Json::object()));
  if (!recorder.ok()) return recorder.problem();

  Program program;
  program.words = step["command"] == "train"        ? world.train_command
                  : step["command"] == "custom-job" ? world.custom_job_command
                                                    : world.submit_command;
  for (const Json& word : step.value("words", Json::array())) program.words.push_back(word);
  program.directory = work.string();
  program.environment = OwnEnvironment();
  for (const char* unwanted :
       {"CLOUDSDK_COMPUTE_REGION", "CLOUDSDK_AI_REGION", "TF_CONFIG", "CLOUDSDK_PYTHON"}) {
    program.environment.erase(unwanted);
  }
  for (const auto& [name, value] :
       EndpointEnvironment(recorder.value()->url(), world.setting("project"),
                           (folder.path() / "config").string())) {
    program.environment[name] = value;
  }
  program.environment["CAIP_STATE"] = (folder.path() / "state").string();
  for (const Json members = step.value("environment", Json::object());
       const auto& [name, value] : members.items()) {
    if (value.is_null()) program.environment.erase(name);
    if (value.is_string()) program.environment[name] = value;
  }
  const Result<Ended> ended = RunProgram(program, world.job_patience);
  if (!ended.ok()) return ended.problem();
  if (ended.value().late) return problems::CommandTimeout(program.words[0]);
  Json seen = recorder.value()->Seen();
  seen["exit"] = ended.value().exit_code;
  seen["out"] = ended.value().out;
  seen["err"] = ended.value().err;
  seen["replicas"] = RecordsIn(ended.value().out);
  return seen;
}

}  // namespace conform
