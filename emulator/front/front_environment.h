#pragma once
// The variables that lead a replica to its own metadata server and, where its software insists on
// https, to our front of Google's names (docs/service/clients.md, section 6).

#include <string>
#include <utility>
#include <vector>

namespace caip::front {

/// Where the front of Google's https names is, and whom to trust for it.
struct HttpsFront {
  std::string proxy;   // "http://127.0.0.1:40001"
  std::string bundle;  // file: the host's certificate authorities and ours
  /// Reached without the proxy: hosts of the run, and what the host itself exempts.
  std::vector<std::string> direct;
};

struct FrontFacts {
  /// "127.0.0.1:40001": the replica's own metadata server; "" where it is found by its own name.
  std::string metadata;
  std::string token;                  // for software that reads it from a variable; "" none
  const HttpsFront* https = nullptr;  // nullptr: none
};

/// In a fixed order; names occur once, and none of them is RenderEnvironment's.
std::vector<std::pair<std::string, std::string>> RenderFrontEnvironment(const FrontFacts& facts);

}  // namespace caip::front
