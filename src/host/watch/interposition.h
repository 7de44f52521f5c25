#pragma once
// Whether this host lets caip hold a replica at its system calls.

#include <string>

namespace caip::host {

struct Interposition {
  enum class Kind {
    kSeccomp,  // in the kernel: any program
    kPreload,  // in a library that is loaded into programs: those that are linked dynamically
    kNone
  } kind = Kind::kNone;
  std::string reason;  // why no better one is available
};

/// The best that this host offers; changes nothing. CAIP_INTERPOSITION=preload asks for the second.
Interposition InterpositionOf();

}  // namespace caip::host
