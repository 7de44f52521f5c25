#pragma once
// The limit of open file descriptors (man 2 getrlimit).

#include <sys/types.h>

#include <cstdint>

namespace caip {

/// The number of descriptors that this process may have open at the same time.
uint64_t DescriptorLimit();

/// How many errors of this process were for want of a descriptor. SystemError (errors.h) notes
/// them. Any thread.
uint64_t DescriptorShortages();
void NoteDescriptorShortage();

/// How many more descriptors this process may open. If /proc is hidden, this is the limit, because
/// nothing tells how many are open.
uint64_t FreeDescriptors();

/// Raises this limit as far as the system allows. Call it before the first thread starts.
void RaiseDescriptorLimit();

/// Gives a child (0: this process) the limit that this process had before RaiseDescriptorLimit,
/// because old programs use select(), which fails above 1024. Only makes a system call.
void RestoreDescriptorLimit(pid_t child);

}  // namespace caip
