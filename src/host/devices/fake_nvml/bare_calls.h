#pragma once
// What the library does without a C library: system calls, and copies and comparisons of bytes.

#include <cstddef>

namespace caip::host::fake_nvml {

// System calls. Below 0: the negative errno.
long OpenFile(const char* path, int flags);
long ReadBytes(long file, void* bytes, size_t size);
long ReadEntries(long directory, void* bytes, size_t size);  // getdents64
void CloseFile(long file);
void LetOthersRun();

size_t LengthOf(const char* text);
bool IsSame(const char* a, const char* b);

/// Copies `text` and its end. False, and nothing is copied: it does not fit.
bool CopyText(const char* text, char* target, size_t size);

}  // namespace caip::host::fake_nvml
