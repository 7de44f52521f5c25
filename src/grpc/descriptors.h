#pragma once
// The compiled descriptions in protos/.

#include <string_view>

namespace caip::grpc {

/// A google.protobuf.FileDescriptorSet in binary form, each file after those that it imports.
std::string_view DescriptorSet();

}  // namespace caip::grpc
