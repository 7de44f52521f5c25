#pragma once
// A fault of the network, as the run injects it.

#include <cstdint>
#include <string>
#include <string_view>

#include "base/clock.h"

namespace caip::harness {

/// The peer that stands for the emulator: Cloud Storage and the other APIs, without the metadata
/// server.
inline constexpr std::string_view kStoragePeer = "storage";

/// A fault of the packets between a replica and its peer.
struct NetworkFault {
  enum class Kind {
    kCut,      // all are lost, in both directions
    kDrop,     // those to the peer are lost
    kLoss,     // a fraction is lost, in both directions
    kDelay,    // they arrive later, in both directions
    kRefused,  // connections are reset and refused, in both directions
  };
  Kind kind = Kind::kCut;
  double fraction = 0;       // kLoss
  Duration by{0};            // kDelay, in each direction
  std::string replica = {};  // "worker-0"
  std::string peer = {};     // a replica, or kStoragePeer
  uint64_t seed = 0;         // kLoss: of the draws
};

}  // namespace caip::harness
