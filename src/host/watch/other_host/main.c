// caip-other-host WAY LIBRARY NAME COMMAND [WORD...]: becomes the command, on a host of that name.
// A UTS namespace has its own host name. A user without the right to make one gets it together with
// a user namespace and keeps the user ID. If that is forbidden, too, or WAY is "preload", LIBRARY
// supplies the name.

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "host/watch/preload/protocol.h"

static int Write(const char* file, const char* text) {
  const int descriptor = open(file, O_WRONLY | O_CLOEXEC);
  if (descriptor < 0) return -1;
  const ssize_t written = write(descriptor, text, strlen(text));
  close(descriptor);
  return written == (ssize_t)strlen(text) ? 0 : -1;
}

// Maps this user and this group to themselves, and no others.
static int MapOurselves(unsigned user, unsigned group) {
  char users[64], groups[64];
  snprintf(users, sizeof users, "%u %u 1\n", user, user);
  snprintf(groups, sizeof groups, "%u %u 1\n", group, group);
  if (Write("/proc/self/setgroups", "deny") != 0) return -1;
  if (Write("/proc/self/uid_map", users) != 0) return -1;
  return Write("/proc/self/gid_map", groups);
}

static int Rename(const char* name) {
  const unsigned user = geteuid(), group = getegid();
  if (unshare(CLONE_NEWUTS) != 0) {
    if (unshare(CLONE_NEWUSER | CLONE_NEWUTS) != 0) return -1;
    if (MapOurselves(user, group) != 0) return -1;
  }
  return sethostname(name, strlen(name));
}

// A process that fails halfway into a namespace cannot leave it, so a child tries it first.
static int MayRename(const char* name) {
  const pid_t child = fork();
  if (child == 0) _exit(Rename(name) == 0 ? 0 : 1);
  int status = 1;
  while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  return child > 0 && status == 0;
}

static int SetNameByPreload(const char* library, const char* name) {
  const char* before = getenv("LD_PRELOAD");
  const char* rest = before && !strstr(before, library) ? before : "";
  char* both = NULL;
  if (before && !rest[0]) return setenv(CAIP_HOST_NAME_VARIABLE, name, 1);
  if (asprintf(&both, "%s%s%s", library, rest[0] ? ":" : "", rest) < 0) return -1;
  const int failed = setenv("LD_PRELOAD", both, 1);
  free(both);
  return failed == 0 ? setenv(CAIP_HOST_NAME_VARIABLE, name, 1) : -1;
}

int main(int count, char** words) {
  if (count < 5) {
    fprintf(stderr, "usage: caip-other-host any|preload LIBRARY NAME COMMAND [WORD...]\n");
    return 2;
  }
  const char* name = words[3];
  const int spaces = strcmp(words[1], "any") == 0 && MayRename(name) && Rename(name) == 0;
  if (!spaces && SetNameByPreload(words[2], name) != 0) {
    fprintf(stderr, "caip-other-host: %s\n", strerror(errno));
    return 1;
  }
  execvp(words[4], words + 4);
  fprintf(stderr, "caip-other-host: cannot run '%s': %s\n", words[4], strerror(errno));
  return errno == ENOENT ? 127 : 126;
}
