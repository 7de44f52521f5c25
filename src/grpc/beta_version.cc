#include "grpc/beta_version.h"

#include "base/text.h"

namespace caip::grpc {
namespace {

constexpr char kStableFolder[] = "google/cloud/aiplatform/v1/";
constexpr char kBetaFolder[] = "google/cloud/aiplatform/v1beta1/";

// As of August 2026.
constexpr BetaField kBetaFields[] = {
    {"MachineSpec", "multihost_gpu_node_count", 6, BetaField::kInt32},
    {"MachineSpec", "min_gpu_driver_version", 9, BetaField::kString},
    {"StudySpec", "convex_stop_config", 8, BetaField::kMessage, "StudySpec.ConvexStopConfig"},
    {"StudySpec", "transfer_learning_config", 10, BetaField::kMessage,
     "StudySpec.TransferLearningConfig"},
    {"ConvexStopConfig", "max_num_steps", 1, BetaField::kInt64},
    {"ConvexStopConfig", "min_num_steps", 2, BetaField::kInt64},
    {"ConvexStopConfig", "autoregressive_order", 3, BetaField::kInt64},
    {"ConvexStopConfig", "learning_rate_parameter_name", 4, BetaField::kString},
    {"ConvexStopConfig", "use_seconds", 5, BetaField::kBool},
    {"TransferLearningConfig", "disable_transfer_learning", 1, BetaField::kBool},
    {"TransferLearningConfig", "prior_study_names", 2, BetaField::kString, "", true},
};

constexpr BetaMessage kBetaMessages[] = {{"StudySpec", "ConvexStopConfig"},
                                         {"StudySpec", "TransferLearningConfig"}};

}  // namespace

std::span<const BetaField> BetaFields() { return kBetaFields; }
std::span<const BetaMessage> BetaMessages() { return kBetaMessages; }

std::string InBeta(std::string_view name) {
  const std::string moved = ReplaceAll(std::string(name), kStableFolder, kBetaFolder);
  return ReplaceAll(moved, std::string(kStablePackage) + ".", std::string(kBetaPackage) + ".");
}

std::string PatternInVersion(std::string_view method, std::string pattern) {
  const bool is_beta = method.starts_with(std::string(kBetaPackage) + ".");
  return is_beta && pattern.starts_with("/v1/") ? "/v1beta1" + pattern.substr(3) : pattern;
}

}  // namespace caip::grpc
