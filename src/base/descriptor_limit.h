#pragma once
// The limit of open file descriptors (man 2 getrlimit).

#include <sys/types.h>

#include <cstdint>

namespace caip {

/// The number of descriptors that this process may have open at the same time.
uint64_t DescriptorLimit();

/// Raises this limit as far as the system allows. Call it before the first thread starts.
void RaiseDescriptorLimit();

/// Gives a child (0: this process) the limit that this process had before RaiseDescriptorLimit,
/// because old programs use select(), which fails above 1024. Only makes a system call.
void RestoreDescriptorLimit(pid_t child);

}  // namespace caip
