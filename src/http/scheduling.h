#pragma once
// How the kernel schedules a thread.

#include <sched.h>

namespace caip::http {

/// Schedules the calling thread with the policy that programs begin with, if it is scheduled for
/// batches (sched(7)). For a thread that another one has started while it had that policy.
inline void ScheduleAsUsual() {
  const sched_param priority{};
  if (::sched_getscheduler(0) == SCHED_BATCH) ::sched_setscheduler(0, SCHED_OTHER, &priority);
}

}  // namespace caip::http
