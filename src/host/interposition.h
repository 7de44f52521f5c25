#pragma once
// Whether this host lets us hold a replica at its system calls.

#include <string>

namespace caip::host {

struct Interposition {
  enum class Kind { kSeccomp, kNone } kind = Kind::kNone;
  std::string reason;  // of kNone: what is missing
};

/// Asks the kernel; changes nothing.
Interposition InterpositionOf();

}  // namespace caip::host
