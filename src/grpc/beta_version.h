#pragma once
// The differences of Vertex AI's version v1beta1 from v1. The schema makes the services of v1beta1
// from those of v1, because the messages that caip serves differ in a few fields only.

#include <span>
#include <string>
#include <string_view>

namespace caip::grpc {

inline constexpr std::string_view kStablePackage = "google.cloud.aiplatform.v1";
inline constexpr std::string_view kBetaPackage = "google.cloud.aiplatform.v1beta1";

/// A field that only v1beta1 has. The types have the numbers of FieldDescriptorProto.Type.
struct BetaField {
  enum Type { kInt64 = 3, kInt32 = 5, kBool = 8, kString = 9, kMessage = 11 };
  std::string_view message;
  const char* name;
  int number;
  Type type;
  const char* message_type = "";  // below the package, of kMessage
  bool repeated = false;
};
/// Without the fields of messages that no served method takes.
std::span<const BetaField> BetaFields();

/// A message that only v1beta1 has, inside another.
struct BetaMessage {
  std::string_view outer;
  const char* name;
};
std::span<const BetaMessage> BetaMessages();

/// The name of a type, or the path of a file, in v1beta1. Those of other packages stay.
std::string InBeta(std::string_view name);

/// The pattern of a rule of a method, which has its full name: "/v1/..." is "/v1beta1/..." in
/// v1beta1.
std::string PatternInVersion(std::string_view method, std::string pattern);

}  // namespace caip::grpc
