// The texts of the gateway that turns JSON into messages, before the service sees them.

#include "base/text.h"
#include "google/errors.h"

namespace caip::google::errors {
namespace {

FieldViolation At(std::string_view path, std::string description) {
  return {std::string(path), std::move(description)};
}

// All faults of a name are told at the message that holds it, not at the field itself.
FieldViolation BadName(std::string_view name, std::string_view path, std::string_view why) {
  return At(path, "Invalid JSON payload received. Unknown name \"" + std::string(name) + "\" at '" +
                      std::string(path) + "': " + std::string(why));
}

}  // namespace

FieldViolation UnknownName(std::string_view name, std::string_view path) {
  return BadName(name, path, "Cannot find field.");
}

FieldViolation InvalidValue(std::string_view path, std::string_view type, std::string_view shown) {
  return At(path, "Invalid value at '" + std::string(path) + "' (" + std::string(type) + "), " +
                      std::string(shown));
}

FieldViolation InvalidFormat(std::string_view path, std::string_view type, std::string_view field,
                             std::string_view why) {
  return InvalidValue(path, type, "Field '" + std::string(field) + "', " + std::string(why));
}

FieldViolation ListForSingleField(std::string_view name, std::string_view path) {
  return BadName(name, path, "Proto field is not repeating, cannot start list.");
}

FieldViolation ValueForRepeatedField(std::string_view name, std::string_view path) {
  return BadName(name, path, "Proto field is repeating, a list is expected.");
}

FieldViolation NameSetTwice(std::string_view name, std::string_view path) {
  return BadName(name, path, "The field is set twice, under its two spellings.");
}

Error NotTheMessage(std::vector<FieldViolation> violations) {
  std::vector<std::string> lines;
  for (const FieldViolation& violation : violations) lines.push_back(violation.description);
  return {Code::kInvalidArgument, Join(lines, "\n"), std::move(violations)};
}

}  // namespace caip::google::errors
