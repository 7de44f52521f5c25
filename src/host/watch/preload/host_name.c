// Answers a program's requests for its host name with CAIP_HOST_NAME, if that is set.

#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "host/watch/preload/protocol.h"

#define EXPORTED __attribute__((visibility("default")))

EXPORTED int uname(struct utsname* facts) {
  if (syscall(SYS_uname, facts) != 0) return -1;
  const char* name = getenv(CAIP_HOST_NAME_VARIABLE);
  if (!name || !name[0]) return 0;
  strncpy(facts->nodename, name, sizeof facts->nodename - 1);
  facts->nodename[sizeof facts->nodename - 1] = '\0';
  return 0;
}

// Does the same as the C library, whose gethostname() does not call the uname() above.
EXPORTED int gethostname(char* name, size_t size) {
  struct utsname facts;
  if (uname(&facts) != 0) return -1;
  const size_t length = strlen(facts.nodename) + 1;
  memcpy(name, facts.nodename, length < size ? length : size);
  if (length <= size) return 0;
  errno = ENAMETOOLONG;
  return -1;
}
// Compilers call this function for gethostname() with checks.
EXPORTED int __gethostname_chk(char* name, size_t size, size_t room) {
  return gethostname(name, size < room ? size : room);
}
