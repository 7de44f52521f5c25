#include "google/message_schema.h"

#include <algorithm>

namespace caip::google {

bool EnumSchema::Has(std::string_view name) const {
  return !name.empty() && std::find(names.begin(), names.end(), name) != names.end();
}

const FieldSchema* MessageSchema::Find(std::string_view name) const {
  for (const FieldSchema& field : fields) {
    if (field.name == name || field.proto_name == name) return &field;
  }
  return nullptr;
}

}  // namespace caip::google
