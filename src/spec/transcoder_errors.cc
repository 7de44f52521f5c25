// The texts of the gateway that turns JSON into messages, before the service sees them.

#include "base/text.h"
#include "spec/errors.h"

namespace caip::spec::errors {
namespace {

FieldViolation At(std::string_view path, std::string description) {
  return {std::string(path), std::move(description)};
}

constexpr std::string_view kPayload = "Invalid JSON payload received. ";

}  // namespace

FieldViolation UnknownName(std::string_view name, std::string_view path) {
  return At(path, std::string(kPayload) + "Unknown name \"" + std::string(name) + "\" at '" +
                      std::string(path) + "': Cannot find field.");
}

FieldViolation InvalidValue(std::string_view path, std::string_view type, std::string_view shown) {
  return At(path, "Invalid value at '" + std::string(path) + "' (" + std::string(type) + "), " +
                      std::string(shown));
}

FieldViolation ProtoFieldNotRepeating(std::string_view path) {
  return At(path, std::string(kPayload) + "Proto field is not repeating, cannot start list at '" +
                      std::string(path) + "'.");
}

FieldViolation ProtoFieldRepeating(std::string_view path) {
  return At(path, std::string(kPayload) + "Proto field is repeating, a list is expected at '" +
                      std::string(path) + "'.");
}

FieldViolation OneofAlreadySet(std::string_view path, std::string_view oneof) {
  return At(path, "Invalid value at '" + std::string(path) + "' (oneof), oneof field '" +
                      std::string(oneof) + "' is already set. Cannot set '" +
                      std::string(path.substr(path.rfind('.') + 1)) + "'");
}

Error NotTheMessage(std::vector<FieldViolation> violations) {
  std::vector<std::string> lines;
  for (const FieldViolation& violation : violations) lines.push_back(violation.description);
  return {Code::kInvalidArgument, Join(lines, "\n"), std::move(violations)};
}

}  // namespace caip::spec::errors
