#include "grpc/errors.h"

#include <string>

namespace caip::grpc::errors {
namespace {

std::string Quoted(std::string_view text) { return "'" + std::string(text) + "'"; }

}  // namespace

Error FrameCut() {
  return {Code::kInternal, "The message ends before the length that its frame states."};
}

Error FrameFlagUnknown(char flag) {
  return {Code::kInternal, "The first byte of the message's frame is " +
                               std::to_string(static_cast<unsigned char>(flag)) +
                               ". It must be 0, or 1 for a compressed message."};
}

Error MessageMissing() {
  return {Code::kUnimplemented, "The call has no message. The method takes exactly one."};
}

Error MessagesTooMany() {
  return {Code::kUnimplemented, "The call has several messages. The method takes exactly one."};
}

Error MessageTooLarge(size_t limit) {
  return {Code::kResourceExhausted,
          "The message is larger than " + std::to_string(limit) + " bytes, which is the limit."};
}

Error CompressionUnknown(std::string_view encoding) {
  return {Code::kUnimplemented, Quoted(encoding) +
                                    " is not a supported compression of messages. Use gzip, "
                                    "deflate or identity."};
}

Error CompressionUnnamed() {
  return {Code::kInternal,
          "The message is marked as compressed, and the call names no compression. Name it in "
          "grpc-encoding."};
}

Error CompressionBroken() {
  return {Code::kInternal, "The message cannot be decompressed by what grpc-encoding names."};
}

Error MessageMalformed(std::string_view type) {
  return {Code::kInternal, "The message is not a valid " + std::string(type) + "."};
}

Error MessageNotJson(std::string_view type, std::string_view why) {
  return {Code::kInvalidArgument,
          "The " + std::string(type) + " has no JSON form: " + std::string(why)};
}

Error FieldUnknown(std::string_view type, int number) {
  return {Code::kInvalidArgument, "Field number " + std::to_string(number) + " of " +
                                      std::string(type) +
                                      " is unknown to this version of caip. Leave the field out."};
}

Error FieldNotInQuery(std::string_view field) {
  return {Code::kInvalidArgument,
          Quoted(field) + " has a form that the REST API cannot express. Leave it out."};
}

Error NameDoesNotFit(std::string_view field, std::string_view value, std::string_view shape) {
  return {Code::kInvalidArgument, Quoted(value) + " is not a valid value of " + std::string(field) +
                                      ". It must have the form " + std::string(shape) + "."};
}

Error MethodUnknown(std::string_view path, const std::vector<std::string_view>& services) {
  std::string served;
  for (const std::string_view service : services) {
    served += (served.empty() ? "" : ", ") + std::string(service);
  }
  return {Code::kUnimplemented, Quoted(path) +
                                    " is not a method that caip serves over gRPC. It serves " +
                                    served + ". Call the REST API of the service instead."};
}

Error MethodStreams(std::string_view path) {
  return {Code::kUnimplemented,
          Quoted(path) +
              " takes a stream of requests. caip serves only methods with one request "
              "over gRPC."};
}

Error NoRule() {
  return {Code::kUnimplemented, "The method has no route in the REST API, which would serve it."};
}

Error ContentTypeUnknown(std::string_view type) {
  return {Code::kUnimplemented, Quoted(type) +
                                    " is not a supported content type of gRPC. Use "
                                    "application/grpc."};
}

Error TimeoutMalformed(std::string_view text) {
  return {Code::kInternal, Quoted(text) +
                               " is not a valid grpc-timeout. Use at most 8 digits and one of the "
                               "units H, M, S, m, u, n."};
}

Error CallFailed(std::string_view why) {
  return {Code::kInternal, "Internal error: " + std::string(why)};
}

Error DeadlineExceeded(std::string_view timeout) {
  return {Code::kDeadlineExceeded,
          "The call took longer than its grpc-timeout of " + std::string(timeout) + "."};
}

Error AnswerNotConvertible(std::string_view type, std::string_view why) {
  return {Code::kInternal,
          "The response has no form as " + std::string(type) + ": " + std::string(why)};
}

}  // namespace caip::grpc::errors
