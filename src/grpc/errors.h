#pragma once
// All error texts of the gRPC transcoder.

#include <string_view>
#include <vector>

#include "base/result.h"

namespace caip::grpc::errors {

// The frame of a message.
Error FrameCut();
Error FrameFlagUnknown(char flag);
Error MessageMissing();
Error MessagesTooMany();
Error MessageTooLarge(size_t limit);
Error CompressionUnknown(std::string_view encoding);
Error CompressionUnnamed();
Error CompressionBroken();

// A message.
Error MessageMalformed(std::string_view type);
Error MessageNotJson(std::string_view type, std::string_view why);
/// A field that the descriptions of this version do not have.
Error FieldUnknown(std::string_view type, int number);
Error FieldNotInQuery(std::string_view field);
Error NameDoesNotFit(std::string_view field, std::string_view value, std::string_view shape);

// A call.
Error MethodUnknown(std::string_view path, const std::vector<std::string_view>& services);
Error MethodStreams(std::string_view path);
Error NoRule();
Error ContentTypeUnknown(std::string_view type);
Error TimeoutMalformed(std::string_view text);
/// The work of the call threw an exception.
Error CallFailed(std::string_view why);
Error DeadlineExceeded(std::string_view timeout);
/// The REST route answered in a form that the method's message does not have.
Error AnswerNotConvertible(std::string_view type, std::string_view why);

}  // namespace caip::grpc::errors
