#include "client/vertex/tuning_job.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "base/encoding.h"
#include "base/json.h"
#include "base/text.h"
#include "client/submit_errors.h"
#include "client/submit_typing.h"
#include "client/vertex/gcloud_messages.h"
#include "client/vertex/vertex_errors.h"

namespace caip::client::vertex {
namespace {

using google::FieldSchema;
using google::MessageSchema;

constexpr char kTrialJobSpec[] = "trialJobSpec";

// Lists the unknown names of a message as gcloud does: the names of one message in one line, and
// nothing below a message that has some.
class UnknownNames {
 public:
  explicit UnknownNames(const std::vector<std::string>& pointers) {
    for (const std::string& pointer : pointers) {
      const size_t slash = pointer.rfind('/');
      names_[pointer.substr(0, slash)].push_back(NameOfPointerStep(pointer.substr(slash + 1)));
    }
  }

  Error Refusal(const MessageSchema& message, const Json& file) {
    Visit(message, file, "", "GoogleCloudAiplatformV1" + std::string(message.type));
    return errors::TuningNamesUnknown(lines_, std::move(violations_));
  }

 private:
  void Report(const MessageSchema& message, const Json& value, const std::string& pointer,
              const std::string& name) {
    const FieldSchema* field = message.Find(name);
    std::string place = pointer + PointerStep(name);
    if (field && field->name == name) {
      const auto choices = field->enumeration->names;
      violations_.push_back(
          {std::move(place), submit_errors::NoSuchEnumValue(value[name], choices)});
      return;
    }
    std::vector<std::string> known;
    for (const FieldSchema& one : message.fields) known.emplace_back(one.name);
    const std::string nearest = field ? std::string(field->name) : NearestName(name, known);
    violations_.push_back({std::move(place), submit_errors::NoSuchField(name, nearest, known)});
  }

  void Visit(const MessageSchema& message, const Json& value, const std::string& pointer,
             const std::string& path) {
    if (const auto found = names_.find(pointer); found != names_.end()) {
      std::vector<std::string> names = found->second;
      std::sort(names.begin(), names.end());
      const std::string all = Join(names, ",");
      lines_.push_back(path + "." + (names.size() > 1 ? "{" + all + "}" : all));
      for (const std::string& name : found->second) Report(message, value, pointer, name);
      return;
    }
    for (const FieldSchema& field : message.fields) {
      const Json* member = field.message ? Member(value, field.name) : nullptr;
      if (!member) continue;
      const std::string below = pointer + PointerStep(field.name);
      const std::string name = path + "." + std::string(field.name);
      if (!field.repeated) {
        Visit(*field.message, *member, below, name);
      } else if (!member->is_array()) {
        Visit(*field.message, *member, below, name + "[0]");
      } else {
        for (size_t i = 0; i < member->size(); ++i) {
          const std::string index = std::to_string(i);
          Visit(*field.message, (*member)[i], below + "/" + index, name + "[" + index + "]");
        }
      }
    }
  }

  std::map<std::string, std::vector<std::string>> names_;  // by the pointer of their message
  std::vector<std::string> lines_;
  std::vector<FieldViolation> violations_;
};

// gcloud reports a wrong scalar in a sentence, and crashes on other mistakes.
bool IsMismatch(const std::string& crash) {
  return crash.starts_with("Expected type ") || crash.starts_with("Repeated values ");
}

bool IsNothingInPython(const Json& tree) {
  return tree.is_null() || tree == Json(false) || tree == Json("") ||
         (tree.is_number() && tree.get<double>() == 0) || (tree.is_structured() && tree.empty());
}

Result<Json> ReadTuningJob(const SubmitFile& file) {
  if (!file.tree || IsNothingInPython(*file.tree)) return errors::TuningFileEmpty();
  TypedFile typed = TypeFileAs(TuningJobMessage(), *file.tree);
  if (!file.dates.empty()) typed.crash.clear();
  for (const std::string& date : file.dates) typed.faults.push_back(submit_errors::IsADate(date));
  if (!typed.faults.empty()) {
    return errors::TuningJobUnreadable(IsMismatch(typed.crash) ? typed.crash : "",
                                       std::move(typed.faults));
  }
  if (typed.unknown.empty()) return std::move(typed.job);
  return UnknownNames(typed.unknown).Refusal(TuningJobMessage(), *file.tree);
}

// A count of 0 counts as not given.
void MergeCount(Json& job, const char* field, const std::optional<int64_t>& flag) {
  const Json* in_file = Member(job, field);
  const bool is_in_file = in_file && !IsNothingInPython(*in_file);
  if (flag && *flag != 0) {
    job[field] = *flag;
  } else if (!is_in_file) {
    job[field] = 1;
  }
}

// Sets fields of trialJobSpec. gcloud crashes if the file has none.
Status MergeTrialJobSpec(Json& job, const TuningJobFlags& flags) {
  std::vector<std::string> given;
  Json changes = Json::object();
  const auto change = [&](const char* flag, const char* field, Json value) {
    given.emplace_back(flag);
    changes[field] = std::move(value);
  };
  if (!flags.network.value_or("").empty()) change("--network", "network", *flags.network);
  if (!flags.service_account.value_or("").empty()) {
    change("--service-account", "serviceAccount", *flags.service_account);
  }
  if (flags.enable_web_access.value_or(false)) {
    change("--enable-web-access", "enableWebAccess", true);
  }
  if (flags.enable_dashboard_access.value_or(false)) {
    change("--enable-dashboard-access", "enableDashboardAccess", true);
  }
  if (given.empty()) return Ok{};
  const auto spec = job.find(kTrialJobSpec);
  if (spec == job.end()) return errors::TrialJobSpecMissing(given);
  for (const auto& [field, value] : changes.items()) (*spec)[field] = value;
  return Ok{};
}

void MakeFieldsDouble(const MessageSchema& message, Json& value);

void MakeFieldDouble(const FieldSchema& field, Json& value) {
  if (value.is_array()) {
    for (Json& element : value) MakeFieldDouble(field, element);
  } else if (field.message) {
    MakeFieldsDouble(*field.message, value);
  } else if (field.kind == google::FieldKind::kDouble && value.is_number_integer()) {
    value = value.get<double>();
  }
}

void MakeFieldsDouble(const MessageSchema& message, Json& value) {
  if (!value.is_object()) return;
  for (const auto& item : value.items()) {
    if (const FieldSchema* field = message.Find(item.key())) MakeFieldDouble(*field, item.value());
  }
}

}  // namespace

Json WithTuningDoubles(Json job) {
  MakeFieldsDouble(TuningJobMessage(), job);
  return job;
}

Result<Json> MergeTuningJob(const TuningJobFlags& flags, const SubmitFile& file) {
  ASSIGN_OR_RETURN(Json job, ReadTuningJob(file));
  MergeCount(job, "maxTrialCount", flags.max_trial_count);
  MergeCount(job, "parallelTrialCount", flags.parallel_trial_count);
  RETURN_IF_ERROR(MergeTrialJobSpec(job, flags));
  if (!flags.display_name.empty()) job["displayName"] = flags.display_name;
  const auto study = job.find("studySpec");
  if (flags.algorithm && study != job.end()) (*study)["algorithm"] = *flags.algorithm;
  if (flags.kms_key) job["encryptionSpec"] = {{"kmsKeyName", *flags.kms_key}};
  if (flags.labels) job["labels"] = Json(*flags.labels);
  return job;
}

Status CheckTuningJobTraps(const TuningJobFlags& flags, const SubmitFile& file) {
  std::vector<FieldViolation> traps;
  if (flags.max_trial_count == 0) traps.push_back(errors::CountUnused("--max-trial-count"));
  if (flags.parallel_trial_count == 0) {
    traps.push_back(errors::CountUnused("--parallel-trial-count"));
  }
  if (file.tree) {
    for (const std::string& key : file.duplicates) {
      traps.push_back(submit_errors::DuplicateKey(key));
    }
    if (flags.algorithm && !Member(*file.tree, "studySpec")) {
      traps.push_back(errors::AlgorithmUnused());
    }
    const Json* spec = Member(*file.tree, kTrialJobSpec);
    if (spec) AddSwitchTraps(flags, *spec, "/" + std::string(kTrialJobSpec), traps);
    TypedFile typed = TypeFileAs(TuningJobMessage(), *file.tree);
    if (typed.unknown.empty()) {
      traps.insert(traps.end(), typed.traps.begin(), typed.traps.end());
    }
  }
  return traps.empty() ? Status(Ok{}) : Status(submit_errors::Traps(std::move(traps)));
}

}  // namespace caip::client::vertex
