#pragma once
// What the parts of the preloaded library share (watch.c).

#include <stdint.h>

#define EXPORTED __attribute__((visibility("default")))

// A pointer as an argument of a call.
#define P(pointer) ((uint64_t)(uintptr_t)(pointer))

enum { kUnknown, kOff, kOutput, kFiles };

/// Which calls are watched: kOff, kOutput or kFiles.
int Watched(void);

/// Returns whether caip has answered the call. Then *result is the call's result, and errno is set.
int Ask(int number, uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e, long* result);

/// Makes the call, unless caip has answered it.
long Call(int number, uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e);

/// Whether files are watched, and the descriptor may write to one.
int IsWritten(int descriptor);

/// The same, or what is written may become the replica's output: at once, or through a program that
/// reads a pipe or a terminal.
int TakesOutput(int descriptor);
