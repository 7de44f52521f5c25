#include "http/connection/small_reads.h"

#include <sched.h>

#include "http/scheduling.h"

namespace caip::http {

void SmallReads::ScheduleForBatches() {
  // A policy that somebody gave the whole process stays.
  if (::sched_getscheduler(0) != SCHED_OTHER) return;
  const sched_param priority{};
  is_for_batches_ = ::sched_setscheduler(0, SCHED_BATCH, &priority) == 0;
}

void SmallReads::End() {
  in_a_row_ = 0;
  if (is_for_batches_) ScheduleAsUsual();
  is_for_batches_ = false;
}

}  // namespace caip::http
