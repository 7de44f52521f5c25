#include "host/devices/fake_nvml/bare_calls.h"

#include <asm/unistd.h>
#include <fcntl.h>

namespace {

// Without this, the compiler replaces the loop of memcpy by a call of memcpy.
inline void KeepLoop() { asm volatile("" : : : "memory"); }

}  // namespace

// The compiler calls these four for copies that it does not write out.
extern "C" {

__attribute__((visibility("hidden"))) void* memcpy(void* target, const void* source, size_t size) {
  char* to = static_cast<char*>(target);
  const char* from = static_cast<const char*>(source);
  for (size_t i = 0; i < size; ++i) {
    to[i] = from[i];
    KeepLoop();
  }
  return target;
}

__attribute__((visibility("hidden"))) void* memmove(void* target, const void* source, size_t size) {
  char* to = static_cast<char*>(target);
  const char* from = static_cast<const char*>(source);
  if (to < from) return memcpy(target, source, size);
  for (size_t i = size; i > 0; --i) {
    to[i - 1] = from[i - 1];
    KeepLoop();
  }
  return target;
}

__attribute__((visibility("hidden"))) void* memset(void* target, int value, size_t size) {
  char* to = static_cast<char*>(target);
  for (size_t i = 0; i < size; ++i) {
    to[i] = static_cast<char>(value);
    KeepLoop();
  }
  return target;
}

__attribute__((visibility("hidden"))) int memcmp(const void* a, const void* b, size_t size) {
  const auto* left = static_cast<const unsigned char*>(a);
  const auto* right = static_cast<const unsigned char*>(b);
  for (size_t i = 0; i < size; ++i) {
    if (left[i] != right[i]) return left[i] - right[i];
  }
  return 0;
}

}  // extern "C"

namespace caip::host::fake_nvml {
namespace {

#if defined(__x86_64__)
long Call(long number, long a, long b, long c, long d) {
  long result;
  register long fourth asm("r10") = d;
  asm volatile("syscall"
               : "=a"(result)
               : "a"(number), "D"(a), "S"(b), "d"(c), "r"(fourth)
               : "rcx", "r11", "memory");
  return result;
}
#elif defined(__aarch64__)
long Call(long number, long a, long b, long c, long d) {
  register long eighth asm("x8") = number;
  register long first asm("x0") = a;
  register long second asm("x1") = b;
  register long third asm("x2") = c;
  register long fourth asm("x3") = d;
  asm volatile("svc 0"
               : "+r"(first)
               : "r"(eighth), "r"(second), "r"(third), "r"(fourth)
               : "memory");
  return first;
}
#else
#error "The system calls of this processor are not known."
#endif

long AddressOf(const void* bytes) { return reinterpret_cast<long>(bytes); }

}  // namespace

long OpenFile(const char* path, int flags) {
  return Call(__NR_openat, AT_FDCWD, AddressOf(path), flags | O_RDONLY | O_CLOEXEC, 0);
}

long ReadBytes(long file, void* bytes, size_t size) {
  return Call(__NR_read, file, AddressOf(bytes), static_cast<long>(size), 0);
}

long ReadEntries(long directory, void* bytes, size_t size) {
  return Call(__NR_getdents64, directory, AddressOf(bytes), static_cast<long>(size), 0);
}

void CloseFile(long file) { Call(__NR_close, file, 0, 0, 0); }

void LetOthersRun() { Call(__NR_sched_yield, 0, 0, 0, 0); }

size_t LengthOf(const char* text) {
  size_t length = 0;
  for (; text[length]; ++length) KeepLoop();
  return length;
}

bool IsSame(const char* a, const char* b) {
  const size_t length = LengthOf(a);
  return length == LengthOf(b) && memcmp(a, b, length) == 0;
}

bool CopyText(const char* text, char* target, size_t size) {
  const size_t length = LengthOf(text) + 1;
  if (length > size) return false;
  memcpy(target, text, length);
  return true;
}

}  // namespace caip::host::fake_nvml
