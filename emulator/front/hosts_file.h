#pragma once
// The hosts file of a replica that has a mount namespace of its own (docs/service/clients.md,
// section 6: how software that insists on Google's names is led here).

#include <string>
#include <utility>
#include <vector>

namespace caip::front {

struct HostsFacts {
  /// Host names and addresses of the run's replicas, in the plan's order: {"cmle-training-ps-...",
  /// "127.1.2.3"}. "localhost" as an address means 127.0.0.1.
  std::vector<std::pair<std::string, std::string>> replicas;
  std::vector<std::string> served;  // names that are answered at `served_at`
  std::string served_at = "127.0.0.1";
};

/// man 5 hosts. The metadata server is where it is on the service, 169.254.169.254.
std::string RenderHostsFile(const HostsFacts& facts);

/// The metadata server's address on each of the service's machines.
inline constexpr char kMetadataAddress[] = "169.254.169.254";

}  // namespace caip::front
