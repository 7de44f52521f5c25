#pragma once
// The variables that point a replica to its own metadata server and, for software that uses only
// https, to the emulator's proxy for Google's names (docs/service/clients.md, section 6).

#include <string>
#include <utility>
#include <vector>

namespace caip::front {

/// The proxy for Google's https names and its certificate authorities.
struct HttpsFront {
  std::string proxy;  // "http://127.0.0.1:40001"
  /// File: the host's certificate authorities and ours. Of a launcher's options, it is on this
  /// host; of variables, where the replica sees it.
  std::string bundle;
  /// Hosts that are reached without the proxy: those of the run, and the host's own exceptions.
  std::vector<std::string> direct;
};

struct FrontFacts {
  /// "127.0.0.1:40001": the replica's own metadata server; "" if its real name works.
  std::string metadata;
  std::string token;                  // for software that reads it from a variable; "": none
  const HttpsFront* https = nullptr;  // nullptr: none
};

/// The variables that lead only clients of gRPC to the proxy.
std::vector<std::pair<std::string, std::string>> RenderGrpcEnvironment(const HttpsFront& front);

/// In a fixed order. Each name occurs once, and none is set by RenderEnvironment.
std::vector<std::pair<std::string, std::string>> RenderFrontEnvironment(const FrontFacts& facts);

}  // namespace caip::front
