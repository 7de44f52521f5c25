// Sleeps by a clock that nobody bends. libfaketime 0.9.10 (Debian 12) reckons a sleep until a
// moment of CLOCK_MONOTONIC by the wall's clock, also where it is set to leave that clock alone;
// the kernel then refuses it, and with it time.sleep() of Python 3.11 and later. Loaded before it,
// we hand such sleeps to the kernel as they are.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define SHOWN __attribute__((visibility("default")))

SHOWN int clock_nanosleep(clockid_t clock, int flags, const struct timespec* time,
                          struct timespec* left) {
  static int (*next)(clockid_t, int, const struct timespec*, struct timespec*);
  if (!next) *(void**)&next = dlsym(RTLD_NEXT, "clock_nanosleep");
  const int is_bent = getenv("FAKETIME_TIMESTAMP_FILE") != NULL;
  if (!is_bent || clock == CLOCK_REALTIME) return next(clock, flags, time, left);
  const int before = errno;
  const int error = syscall(SYS_clock_nanosleep, clock, flags, time, left) == 0 ? 0 : errno;
  errno = before;
  return error;
}
