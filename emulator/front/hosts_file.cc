#include "emulator/front/hosts_file.h"

namespace caip::front {

std::string RenderHostsFile(const HostsFacts& facts) {
  std::string text =
      "127.0.0.1 localhost\n"
      "::1 localhost ip6-localhost ip6-loopback\n" +
      std::string(kMetadataAddress) + " metadata.google.internal metadata\n";
  for (const std::string& name : facts.served) text += facts.served_at + " " + name + "\n";
  for (const auto& [name, address] : facts.replicas) {
    text += (address == "localhost" ? "127.0.0.1" : address) + " " + name + "\n";
  }
  return text;
}

}  // namespace caip::front
