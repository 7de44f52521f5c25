#include "grpc/schema.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/descriptor.pb.h>
#include <google/protobuf/dynamic_message.h>
#include <google/protobuf/stubs/logging.h>
#include <google/protobuf/unknown_field_set.h>
#include <google/protobuf/util/json_util.h>
#include <google/protobuf/util/type_resolver.h>
#include <google/protobuf/util/type_resolver_util.h>

#include <cmath>
#include <iterator>
#include <map>
#include <optional>
#include <utility>

#include "base/json.h"
#include "grpc/beta_version.h"
#include "grpc/descriptors.h"
#include "grpc/errors.h"

namespace caip::grpc {
namespace {

namespace pb = google::protobuf;

constexpr char kTypeUrlPrefix[] = "type.googleapis.com";

// Numbers of fields in google/api/http.proto, and of its extension of MethodOptions.
constexpr int kHttpExtension = 72295728;
constexpr int kBodyField = 7;
constexpr int kAdditionalBindingsField = 11;
struct VerbField {
  int number;
  const char* verb;
};
constexpr VerbField kVerbFields[] = {
    {2, "GET"}, {3, "PUT"}, {4, "POST"}, {5, "DELETE"}, {6, "PATCH"}};

// The paths that aiplatform_v1.yaml of the service gives to methods of shared services, in place of
// their annotations. The names of caip's operations have the first of its forms only.
struct ServiceRule {
  const char* method;
  HttpRule rule;
};
const std::vector<ServiceRule>& ServiceRules() {
  static const std::vector<ServiceRule> rules = {
      {"google.longrunning.Operations.GetOperation",
       {"GET", "/ui/{name=projects/*/locations/*/operations/*}", ""}},
      {"google.longrunning.Operations.ListOperations",
       {"GET", "/ui/{name=projects/*/locations/*}/operations", ""}},
      {"google.longrunning.Operations.DeleteOperation",
       {"DELETE", "/ui/{name=projects/*/locations/*/operations/*}", ""}},
      {"google.longrunning.Operations.CancelOperation",
       {"POST", "/ui/{name=projects/*/locations/*/operations/*}:cancel", ""}},
      {"google.longrunning.Operations.WaitOperation",
       {"POST", "/ui/{name=projects/*/locations/*/operations/*}:wait", ""}},
  };
  return rules;
}

// Reads an HttpRule, whose type is not linked, by the numbers of its fields.
void ReadRule(const std::string& bytes, std::vector<HttpRule>& rules) {
  pb::UnknownFieldSet fields;
  if (!fields.ParseFromString(bytes)) return;
  HttpRule rule;
  std::vector<std::string> additional;
  for (int i = 0; i < fields.field_count(); ++i) {
    const pb::UnknownField& field = fields.field(i);
    if (field.type() != pb::UnknownField::TYPE_LENGTH_DELIMITED) continue;
    const std::string text(field.length_delimited());
    for (const VerbField& known : kVerbFields) {
      if (field.number() == known.number) rule = {known.verb, text, rule.body};
    }
    if (field.number() == kBodyField) rule.body = text;
    if (field.number() == kAdditionalBindingsField) additional.push_back(text);
  }
  if (!rule.pattern.empty()) rules.push_back(rule);
  for (const std::string& binding : additional) ReadRule(binding, rules);
}

std::vector<HttpRule> RulesOf(const pb::MethodDescriptor& method) {
  std::vector<HttpRule> rules;
  for (const ServiceRule& special : ServiceRules()) {
    if (method.full_name() == special.method) rules.push_back(special.rule);
  }
  if (!rules.empty()) return rules;
  const pb::UnknownFieldSet& options = method.options().unknown_fields();
  for (int i = 0; i < options.field_count(); ++i) {
    if (options.field(i).number() == kHttpExtension) {
      ReadRule(std::string(options.field(i).length_delimited()), rules);
    }
  }
  for (HttpRule& rule : rules) {
    rule.pattern = PatternInVersion(method.full_name(), std::move(rule.pattern));
  }
  return rules;
}

void AddBetaFields(pb::DescriptorProto& message) {
  for (const BetaField& added : BetaFields()) {
    if (added.message != message.name()) continue;
    pb::FieldDescriptorProto& field = *message.add_field();
    field.set_name(added.name);
    field.set_number(added.number);
    field.set_label(added.repeated ? pb::FieldDescriptorProto::LABEL_REPEATED
                                   : pb::FieldDescriptorProto::LABEL_OPTIONAL);
    field.set_type(static_cast<pb::FieldDescriptorProto::Type>(added.type));
    if (added.type != BetaField::kMessage) continue;
    field.set_type_name("." + std::string(kBetaPackage) + "." + added.message_type);
  }
}

void RenameTypes(pb::DescriptorProto& message) {
  for (pb::FieldDescriptorProto& field : *message.mutable_field()) {
    if (field.has_type_name()) field.set_type_name(InBeta(field.type_name()));
  }
  for (pb::DescriptorProto& inner : *message.mutable_nested_type()) RenameTypes(inner);
}

// The description of the same file in v1beta1.
pb::FileDescriptorProto BetaVersionOf(pb::FileDescriptorProto file) {
  file.set_name(InBeta(file.name()));
  file.set_package(std::string(kBetaPackage));
  for (std::string& path : *file.mutable_dependency()) path = InBeta(path);
  for (pb::DescriptorProto& message : *file.mutable_message_type()) {
    RenameTypes(message);
    AddBetaFields(message);
    for (const BetaMessage& added : BetaMessages()) {
      if (added.outer != message.name()) continue;
      pb::DescriptorProto& inner = *message.add_nested_type();
      inner.set_name(added.name);
      AddBetaFields(inner);
    }
  }
  for (pb::ServiceDescriptorProto& service : *file.mutable_service()) {
    for (pb::MethodDescriptorProto& method : *service.mutable_method()) {
      method.set_input_type(InBeta(method.input_type()));
      method.set_output_type(InBeta(method.output_type()));
    }
  }
  return file;
}

// Values of Google's types that have no JSON form, although protobuf writes one or stays silent:
// a Duration whose parts differ in sign, and a number that is not finite.
bool HasJsonForm(const pb::Message& message) {
  const pb::Descriptor& type = *message.GetDescriptor();
  const pb::Reflection& reflection = *message.GetReflection();
  if (type.full_name() == "google.protobuf.Duration") {
    const int64_t seconds = reflection.GetInt64(message, type.FindFieldByNumber(1));
    const int32_t nanos = reflection.GetInt32(message, type.FindFieldByNumber(2));
    return seconds == 0 || nanos == 0 || (seconds < 0) == (nanos < 0);
  }
  if (type.full_name() == "google.protobuf.Value") {
    return std::isfinite(reflection.GetDouble(message, type.FindFieldByNumber(2)));
  }
  return true;
}

// The first message or field, at any depth, that cannot be passed on: the schema does not know it,
// or it has no JSON form.
std::optional<Error> FindFault(const pb::Message& message) {
  const pb::Reflection& reflection = *message.GetReflection();
  if (!HasJsonForm(message)) {
    return errors::MessageNotJson(std::string(message.GetDescriptor()->full_name()),
                                  "its value is not valid");
  }
  const pb::UnknownFieldSet& unknown = reflection.GetUnknownFields(message);
  if (!unknown.empty()) {
    return errors::FieldUnknown(std::string(message.GetDescriptor()->full_name()),
                                unknown.field(0).number());
  }
  std::vector<const pb::FieldDescriptor*> fields;
  reflection.ListFields(message, &fields);
  for (const pb::FieldDescriptor* field : fields) {
    if (field->cpp_type() != pb::FieldDescriptor::CPPTYPE_MESSAGE) continue;
    const int count = field->is_repeated() ? reflection.FieldSize(message, field) : 1;
    for (int i = 0; i < count; ++i) {
      const pb::Message& inner = field->is_repeated()
                                     ? reflection.GetRepeatedMessage(message, field, i)
                                     : reflection.GetMessage(message, field);
      if (auto found = FindFault(inner)) return found;
    }
  }
  return std::nullopt;
}

template <typename ProtobufStatus>
std::string TextOf(const ProtobufStatus& status) {
  const auto message = status.message();  // of another type in later versions
  return std::string(message.data(), message.size());
}

class ProtobufSchema final : public Schema {
 public:
  ProtobufSchema() {
    pb::SetLogHandler(nullptr);  // errors are values here
    pb::FileDescriptorSet files;
    const std::string_view bytes = DescriptorSet();
    [[maybe_unused]] const bool parsed =
        files.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()));
    assert(parsed);
    for (const pb::FileDescriptorProto& file : files.file()) {
      AddFile(file);
      if (file.package() == kStablePackage) AddFile(BetaVersionOf(file));
    }
    resolver_.reset(pb::util::NewTypeResolverForDescriptorPool(kTypeUrlPrefix, &pool_));
  }

  const Method* Find(std::string_view path) const override {
    const auto found = methods_.find(path);
    return found == methods_.end() ? nullptr : &found->second;
  }

  std::vector<std::string_view> ServiceNames() const override {
    return {services_.begin(), services_.end()};
  }

  Result<std::string> ToJson(const std::string& type, const std::string& bytes) const override {
    const std::unique_ptr<pb::Message> message(
        factory_.GetPrototype(pool_.FindMessageTypeByName(type))->New());
    if (!message->ParseFromString(bytes)) return errors::MessageMalformed(type);
    if (auto fault = FindFault(*message)) return *std::move(fault);
    std::string json;
    const auto status = pb::util::BinaryToJsonString(resolver_.get(), UrlOf(type), bytes, &json);
    if (!status.ok()) return errors::MessageNotJson(type, TextOf(status));
    return json;
  }

  Result<std::string> FromJson(const std::string& type, const std::string& json) const override {
    auto bytes = Convert(type, json);
    if (bytes.ok()) return bytes;
    auto parsed = ParseJson(json);
    if (!parsed.ok()) return bytes;
    LeaveOutUnreadable(*pool_.FindMessageTypeByName(type), *parsed);
    return Convert(type, CompactJson(*parsed));
  }

 private:
  Result<std::string> Convert(const std::string& type, const std::string& json) const {
    pb::util::JsonParseOptions options;
    options.ignore_unknown_fields = true;
    std::string bytes;
    const auto status =
        pb::util::JsonToBinaryString(resolver_.get(), UrlOf(type), json, &bytes, options);
    if (!status.ok()) return errors::AnswerNotConvertible(type, TextOf(status));
    return bytes;
  }

  // Removes the fields of the type Any that cannot be converted, at any depth: their type is not in
  // the schema, or they do not have its form.
  void LeaveOutUnreadable(const pb::Descriptor& type, Json& message) const {
    if (!message.is_object()) return;
    for (int i = 0; i < type.field_count(); ++i) {
      const pb::FieldDescriptor& field = *type.field(i);
      const auto found = message.find(std::string(field.json_name()));
      if (field.message_type() == nullptr || found == message.end()) continue;
      if (found->is_array() || field.is_map()) {
        const auto* const element = field.is_map()
                                        ? field.message_type()->FindFieldByNumber(2)->message_type()
                                        : field.message_type();
        if (element != nullptr) LeaveOutElements(*element, *found);
      } else if (!IsReadable(*field.message_type(), *found)) {
        message.erase(found);
      }
    }
  }

  void LeaveOutElements(const pb::Descriptor& type, Json& elements) const {
    for (auto element = elements.begin(); element != elements.end();) {
      element = IsReadable(type, *element) ? std::next(element) : elements.erase(element);
    }
  }

  // False for an Any that cannot be converted. Removes those inside others.
  bool IsReadable(const pb::Descriptor& type, Json& message) const {
    if (type.full_name() == "google.protobuf.Any") {
      const std::string url = StringOr(message, "@type");
      const auto* const held = pool_.FindMessageTypeByName(url.substr(url.rfind('/') + 1));
      if (held == nullptr) return false;
      LeaveOutUnreadable(*held, message);
      return Convert("google.protobuf.Any", CompactJson(message)).ok();
    }
    LeaveOutUnreadable(type, message);
    return true;
  }

  static std::string UrlOf(const std::string& type) {
    std::string url(kTypeUrlPrefix);
    return url.append("/").append(type);
  }

  void AddFile(const pb::FileDescriptorProto& file) {
    const pb::FileDescriptor* const built = pool_.BuildFile(file);
    assert(built != nullptr);
    for (int i = 0; i < built->service_count(); ++i) AddService(*built->service(i));
  }

  void AddService(const pb::ServiceDescriptor& service) {
    services_.emplace_back(service.full_name());
    for (int i = 0; i < service.method_count(); ++i) {
      const pb::MethodDescriptor& method = *service.method(i);
      const std::string path =
          "/" + std::string(service.full_name()) + "/" + std::string(method.name());
      methods_[path] = {path,
                        std::string(method.input_type()->full_name()),
                        std::string(method.output_type()->full_name()),
                        method.client_streaming(),
                        method.server_streaming(),
                        RulesOf(method)};
    }
  }

  pb::DescriptorPool pool_;
  mutable pb::DynamicMessageFactory factory_;  // has a lock of its own
  std::unique_ptr<pb::util::TypeResolver> resolver_;
  std::vector<std::string> services_;
  std::map<std::string, Method, std::less<>> methods_;
};

}  // namespace

const Schema& Schema::Served() {
  static const ProtobufSchema schema;
  return schema;
}

}  // namespace caip::grpc
