#pragma once
// The port where a state directory's emulator is found when nobody says another.

#include <cstdint>
#include <string>
#include <vector>

#include "base/files.h"
#include "base/result.h"

namespace caip::app {

inline constexpr uint16_t kUsualPort = 2247;  // "CAIP" on a telephone

/// To be tried in this order: where this state directory was served before, 2247, the ports after
/// it, and in the end 0, any free one.
std::vector<uint16_t> PortsToTry(const Path& state);

/// For whoever expects it at `usual`.
std::string PortNote(uint16_t usual, uint16_t port);

/// What was printed for a shell once should go on working.
Status RememberPort(const Path& state, uint16_t port);

}  // namespace caip::app
