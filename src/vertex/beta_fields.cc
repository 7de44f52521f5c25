#include "vertex/beta_fields.h"

#include <algorithm>
#include <string>
#include <string_view>

#include "base/json.h"
#include "vertex/validate/violations.h"

namespace caip::vertex {
namespace {

struct BetaField {
  std::string_view message;  // the field whose value has it
  std::string_view name;
};
constexpr BetaField kBetaFields[] = {{"machine_spec", "multihost_gpu_node_count"},
                                     {"machine_spec", "min_gpu_driver_version"},
                                     {"study_spec", "convex_stop_config"},
                                     {"study_spec", "transfer_learning_config"}};

// Clients write "machineSpec" or "machine_spec".
std::string ProtoNameOf(std::string_view name) {
  std::string proto;
  for (const char c : name) {
    const bool is_upper = c >= 'A' && c <= 'Z';
    if (is_upper) proto += '_';
    proto += is_upper ? static_cast<char>(c - 'A' + 'a') : c;
  }
  return proto;
}

bool IsBetaField(std::string_view message, std::string_view name) {
  return std::ranges::any_of(kBetaFields, [&](const BetaField& field) {
    return field.message == message && field.name == name;
  });
}

// In proto3, a field with its default value is absent. A message is not.
bool IsAbsent(const Json& value) {
  const bool is_zero = value.is_number() && value.get<double>() == 0;
  return value.is_null() || value == "" || value == "0" || is_zero;
}

void TakeFrom(Json& value, const std::string& path, std::string_view message,
              std::vector<FieldViolation>& found) {
  if (value.is_array()) {
    for (size_t i = 0; i < value.size(); ++i) {
      TakeFrom(value[i], path + "[" + std::to_string(i) + "]", message, found);
    }
    return;
  }
  if (!value.is_object()) return;
  for (auto member = value.begin(); member != value.end();) {
    const std::string name = ProtoNameOf(member.key());
    const std::string at = path.empty() ? name : path + "." + name;
    if (!IsBetaField(message, name)) {
      TakeFrom(*member++, at, name, found);
      continue;
    }
    if (!IsAbsent(*member)) found.push_back({at, violations::NotServed(name)});
    member = value.erase(member);
  }
}

}  // namespace

std::vector<FieldViolation> TakeBetaFields(Json& body) {
  std::vector<FieldViolation> found;
  TakeFrom(body, "", "", found);
  return found;
}

}  // namespace caip::vertex
