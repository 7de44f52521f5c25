#pragma once
// What a watched program and caip say to each other where the kernel's own way (seccomp) is not
// available: one connection to an abstract Unix socket (SOCK_SEQPACKET) for each call. The program
// asks, waits, and acts by the answer. Also C.

#include <stdint.h>

/// The variable that names the socket, and what is asked for: "f" files, too; "o" output only.
#define CAIP_WATCH_VARIABLE "CAIP_WATCH"

/// The variable with the host name that programs see; unset: the kernel's.
#define CAIP_HOST_NAME_VARIABLE "CAIP_HOST_NAME"

/// A call as the kernel would see it.
struct caip_watch_call {
  int32_t number;
  int32_t thread;
  uint64_t arguments[6];
};

enum caip_watch_kind {
  CAIP_WATCH_GO_ON = 0,      /* it is to be made */
  CAIP_WATCH_RETURN = 1,     /* it was made: `value`, or -1 with `error` */
  CAIP_WATCH_DESCRIPTOR = 2, /* it was made: the descriptor that comes along is its value */
};

struct caip_watch_answer {
  int32_t kind;
  int32_t error;
  int64_t value;
};
