// The rules for object contexts: https://cloud.google.com/storage/docs/object-contexts
#include <cstddef>
#include <string>
#include <string_view>

#include "base/json.h"
#include "base/text.h"
#include "fakes/gcs/errors.h"
#include "fakes/gcs/service/object_fields.h"

namespace caip::gcs {
namespace {

// https://cloud.google.com/storage/quotas#objects
constexpr size_t kContextsMax = 50;
constexpr size_t kContextBytesMax = 256;
constexpr size_t kAllContextBytesMax = 25 << 10;

// Letters and digits beyond ASCII count, too.
bool IsAlphanumeric(unsigned char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c >= 0x80;
}

// Of a key and of a value. The names of the errors are those of the service:
// https://cloud.google.com/storage/docs/troubleshooting#object-contexts
std::string ContextTextRule(std::string_view text) {
  if (text.empty()) return "an object context's key or value is not empty";
  if (text.size() > kContextBytesMax) {
    return "object context key or value size limit exceeded: it has at most 256 bytes";
  }
  if (!IsAlphanumeric(static_cast<unsigned char>(text.front()))) {
    return "an object context's key or value must start with an alphanumeric character";
  }
  if (text.find_first_of("'\"\\/") == std::string_view::npos) return "";
  return "an object context's key or value has no quotes, backslashes and slashes";
}

}  // namespace

std::string ContextKeyRule(std::string_view key) {
  if (key.starts_with("goog")) return "an object context's key does not begin with goog";
  return ContextTextRule(key);
}

std::string ContextValueRule(std::string_view value) { return ContextTextRule(value); }

Status CheckContextCount(size_t count) {
  if (count <= kContextsMax) return Ok{};
  return errors::FieldInvalid("contexts.custom",
                              "object context limit exceeded: an object has at most 50 contexts, "
                              "found " +
                                  std::to_string(count));
}

Status CheckContexts(const Json& contexts) {
  RETURN_IF_ERROR(CheckContextCount(contexts.size()));
  size_t bytes = 0;
  for (const auto& [key, payload] : contexts.items()) {
    bytes += key.size() + StringOr(payload, "value").size();
  }
  if (bytes <= kAllContextBytesMax) return Ok{};
  return errors::FieldInvalid("contexts.custom",
                              "object context aggregate size limit exceeded: all keys and values "
                              "have at most 25 KiB, found " +
                                  std::to_string(bytes) + " bytes");
}

}  // namespace caip::gcs
