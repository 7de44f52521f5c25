#include "emulator/app/emulator_hooks.h"

#include <algorithm>

namespace caip::app {

void AlarmedClock::WaitUntil(Instant deadline) {
  const Instant ring = alarm_ ? alarm_->Next() : kNever;
  clock_.WaitUntil(std::min(deadline, ring));
  if (ring == kNever) return;
  if (const Instant now = Now(); ring <= now) alarm_->Ring(now);
}

}  // namespace caip::app
