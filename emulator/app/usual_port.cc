#include "emulator/app/usual_port.h"

#include <algorithm>
#include <charconv>

#include "base/text.h"

namespace caip::app {
namespace {

constexpr char kFileName[] = "port";
constexpr int kNeighbours = 32;

uint16_t RememberedPort(const Path& state) {
  const auto text = ReadFileUpTo(state / kFileName, 16);
  if (!text.ok()) return 0;
  const std::string_view digits = Trim(*text);
  uint16_t port = 0;
  const auto [end, code] = std::from_chars(digits.data(), digits.data() + digits.size(), port);
  return code == std::errc() && end == digits.data() + digits.size() ? port : 0;
}

}  // namespace

std::vector<uint16_t> PortsToTry(const Path& state) {
  std::vector<uint16_t> ports;
  const auto add = [&](uint16_t port) {
    if (std::find(ports.begin(), ports.end(), port) == ports.end()) ports.push_back(port);
  };
  if (const uint16_t before = RememberedPort(state)) add(before);
  for (int i = 0; i <= kNeighbours; ++i) add(static_cast<uint16_t>(kUsualPort + i));
  ports.push_back(0);
  return ports;
}

std::string PortNote(uint16_t usual, uint16_t port) {
  return "Port " + std::to_string(usual) + " is taken by somebody else; this emulator is at port " +
         std::to_string(port) + ", and shells that were told another need `caip env` again.";
}

Status RememberPort(const Path& state, uint16_t port) {
  return WriteFile(state / kFileName, std::to_string(port) + "\n");
}

}  // namespace caip::app
