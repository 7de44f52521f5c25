#pragma once
// The messages between a watched program and caip on hosts without the kernel's own way (seccomp).
// Each call has a connection to a Unix socket (SOCK_SEQPACKET), which has an abstract name, or on a
// machine a path: abstract names belong to a network. The program sends the call, waits, and acts
// on the answer. This header is also C.

#include <stdint.h>

/// The variable that names the watched calls and the socket: "f" includes files, "o" is only
/// output; then an abstract name, or a path, which begins with "/".
#define CAIP_WATCH_VARIABLE "CAIP_WATCH"

/// The variable with the host name that programs see. If it is not set, they see the kernel's.
#define CAIP_HOST_NAME_VARIABLE "CAIP_HOST_NAME"

/// A call as the kernel would see it.
struct caip_watch_call {
  int32_t number;
  int32_t thread;
  uint64_t arguments[6];
};

enum caip_watch_kind {
  CAIP_WATCH_GO_ON = 0,      /* make the call */
  CAIP_WATCH_RETURN = 1,     /* the call was made: `value`, or -1 with `error` */
  CAIP_WATCH_DESCRIPTOR = 2, /* the call was made: its value is the attached descriptor */
};

struct caip_watch_answer {
  int32_t kind;
  int32_t error;
  int64_t value;
};
