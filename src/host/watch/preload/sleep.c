// Keeps sleeps independent of a faked clock. libfaketime 0.9.10 (Debian 12) computes the end of a
// sleep on CLOCK_MONOTONIC from the wall clock, even if it is configured not to fake that clock.
// The kernel rejects such a sleep, so time.sleep() of Python 3.11 and later fails. This library is
// loaded before libfaketime and passes these sleeps to the kernel unchanged.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define EXPORTED __attribute__((visibility("default")))

EXPORTED int clock_nanosleep(clockid_t clock, int flags, const struct timespec* time,
                             struct timespec* left) {
  static int (*next)(clockid_t, int, const struct timespec*, struct timespec*);
  if (!next) *(void**)&next = dlsym(RTLD_NEXT, "clock_nanosleep");
  const int is_faked = getenv("FAKETIME_TIMESTAMP_FILE") != NULL;
  if (!is_faked || clock == CLOCK_REALTIME) return next(clock, flags, time, left);
  const int before = errno;
  const int error = syscall(SYS_clock_nanosleep, clock, flags, time, left) == 0 ? 0 : errno;
  errno = before;
  return error;
}
