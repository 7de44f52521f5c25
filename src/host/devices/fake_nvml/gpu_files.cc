#include "host/devices/fake_nvml/gpu_files.h"

#include <fcntl.h>

#include "host/devices/fake_nvml/bare_calls.h"
#include "host/devices/smi/smi_files.h"

namespace caip::host::fake_nvml {
namespace {

constexpr size_t kPathBytes = 4096;
constexpr size_t kTextBytes = 1024;  // of a file
constexpr size_t kFilesMax = kGpusMax * kInstancesOfGpuMax;

// struct linux_dirent64, which getdents64 fills.
struct DirectoryEntry {
  uint64_t inode;
  int64_t offset;
  unsigned short size;
  unsigned char type;
  char name[1];
};

Entry entries[kGpusMax + kFilesMax];
size_t entry_count = 0;
unsigned file_numbers[kFilesMax];
size_t file_count = 0;

// Reads a number at `text`, and moves it past the digits.
uint64_t ReadNumber(const char*& text, unsigned base = 10) {
  uint64_t value = 0;
  for (;; ++text) {
    const bool is_letter = base == 16 && *text >= 'a' && *text <= 'f';
    if (!is_letter && (*text < '0' || *text > '9')) return value;
    value = value * base + static_cast<unsigned>(is_letter ? *text - 'a' + 10 : *text - '0');
  }
}

// A line of /proc/self/maps: "begin-end rwxp offset device inode   /path". Copies the path if the
// range has this code.
bool IsOwnMapping(const char* line, char* path) {
  const uint64_t begin = ReadNumber(line, 16);
  if (*line++ != '-') return false;
  const uint64_t end = ReadNumber(line, 16);
  const auto own = reinterpret_cast<uint64_t>(&IsOwnMapping);
  if (own < begin || own >= end) return false;
  while (*line && *line != '/') ++line;
  return *line && CopyText(line, path, kPathBytes);
}

// Finds the path of this library among what this process has mapped.
bool FindOwnPath(char* path) {
  const long file = OpenFile("/proc/self/maps", 0);
  if (file < 0) return false;
  static char line[kPathBytes + 128];
  static char bytes[4096];
  size_t length = 0;
  bool is_found = false;
  for (long count = 0; !is_found && (count = ReadBytes(file, bytes, sizeof bytes)) > 0;) {
    for (long i = 0; i < count && !is_found; ++i) {
      if (bytes[i] != '\n') {
        if (length + 1 < sizeof line) line[length++] = bytes[i];
        continue;
      }
      line[length] = 0;
      length = 0;
      is_found = IsOwnMapping(line, path);
    }
  }
  CloseFile(file);
  return is_found;
}

// Cuts a path after its last slash.
void CutToDirectory(char* path) {
  size_t length = LengthOf(path);
  while (length > 0 && path[length - 1] != '/') --length;
  path[length] = 0;
}

// Keeps the numbers of the files in order.
void AddFileOf(const char* name) {
  for (const char* begin = smi::kFileBegin; *begin; ++begin, ++name) {
    if (*name != *begin) return;
  }
  const char* end = name;
  const auto number = static_cast<unsigned>(ReadNumber(end));
  if (end == name || *end || file_count == kFilesMax) return;
  size_t place = file_count++;
  for (; place > 0 && file_numbers[place - 1] > number; --place) {
    file_numbers[place] = file_numbers[place - 1];
  }
  file_numbers[place] = number;
}

void ListFiles(const char* directory) {
  const long opened = OpenFile(directory, O_DIRECTORY);
  if (opened < 0) return;
  alignas(DirectoryEntry) static char bytes[4096];
  for (long count = 0; (count = ReadEntries(opened, bytes, sizeof bytes)) > 0;) {
    for (long at = 0; at < count;) {
      const auto* entry = reinterpret_cast<const DirectoryEntry*>(bytes + at);
      AddFileOf(entry->name);
      at += entry->size;
    }
  }
  CloseFile(opened);
}

// The directory of the files, which ends with a slash: that of this library. The other one counts
// where /proc does not tell it.
void FindDirectory(char* directory) {
  if (FindOwnPath(directory)) {
    CutToDirectory(directory);
    ListFiles(directory);
  }
  if (file_count > 0) return;
  const size_t length = LengthOf(smi::kDirectory);
  CopyText(smi::kDirectory, directory, kPathBytes);
  CopyText("/", directory + length, kPathBytes - length);
  ListFiles(directory);
}

// The whole path of a file, at the end of the directory's.
void AppendFileName(unsigned number, char* end, size_t size) {
  char digits[12];
  size_t first = sizeof digits - 1;
  digits[first] = 0;
  do digits[--first] = static_cast<char>('0' + number % 10);
  while (number /= 10);
  if (CopyText(smi::kFileBegin, end, size)) {
    const size_t begin = LengthOf(smi::kFileBegin);
    CopyText(digits + first, end + begin, size - begin);
  }
}

// Ends the field at `text`, and moves it to the next one. At the end of the line, to "".
char* TakeField(char*& text) {
  char* const field = text;
  while (*text && *text != '\t' && *text != '\n') ++text;
  const bool is_last = *text != '\t';
  *text = 0;
  if (!is_last) ++text;
  return field;
}

uint64_t TakeNumber(char*& text) {
  const char* digits = TakeField(text);
  return ReadNumber(digits);
}

Entry* FindGpu(const EntryList& list, const char* uuid) {
  for (size_t i = 0; i < list.gpu_count; ++i) {
    if (IsSame(list.gpus[i]->uuid, uuid)) return list.gpus[i];
  }
  return nullptr;
}

Entry* NewEntry() {
  if (entry_count == sizeof entries / sizeof entries[0]) return nullptr;
  Entry* const entry = &entries[entry_count++];
  *entry = {};
  return entry;
}

// Takes a GPU's part of a file, for a GPU that is new or known from another file.
Entry* TakeGpu(char*& text, EntryList& list) {
  Entry read = {};
  read.minor = static_cast<unsigned>(TakeNumber(text));
  bool fits = CopyText(TakeField(text), read.uuid, sizeof read.uuid);
  fits &= CopyText(TakeField(text), read.name, sizeof read.name);
  read.memory_mib = static_cast<int64_t>(TakeNumber(text));
  fits &= CopyText(TakeField(text), read.bus_id, sizeof read.bus_id);
  const char* capability = TakeField(text);
  read.capability_major = static_cast<unsigned>(ReadNumber(capability));
  if (*capability == '.') read.capability_minor = static_cast<unsigned>(ReadNumber(++capability));
  read.power_watts = static_cast<unsigned>(TakeNumber(text));
  if (!fits || !read.uuid[0]) return nullptr;
  if (Entry* const known = FindGpu(list, read.uuid)) return known;
  Entry* const gpu = list.gpu_count < kGpusMax ? NewEntry() : nullptr;
  if (!gpu) return nullptr;
  *gpu = read;
  list.gpus[list.gpu_count++] = gpu;
  return gpu;
}

// "fake NVIDIA_TESLA_A100 MIG 2g.10gb".
bool NameInstance(const Entry& gpu, const char* profile, char* name) {
  constexpr char kBetween[] = " MIG ";
  const size_t length = LengthOf(gpu.name);
  const size_t between = length + sizeof kBetween - 1;
  return CopyText(gpu.name, name, kFieldBytes) &&
         CopyText(kBetween, name + length, kFieldBytes - length) &&
         CopyText(profile, name + between, kFieldBytes - between);
}

void TakeInstance(char*& text, Entry& gpu) {
  const char* profile = TakeField(text);
  const char* const uuid = TakeField(text);
  const auto gpu_instance = static_cast<unsigned>(TakeNumber(text));
  const auto memory_mib = static_cast<int64_t>(TakeNumber(text));
  Entry* const instance = gpu.instance_count < kInstancesOfGpuMax ? NewEntry() : nullptr;
  if (!instance || !NameInstance(gpu, profile, instance->name)) return;
  if (!CopyText(uuid, instance->uuid, sizeof instance->uuid)) return;
  instance->gpu_instance = gpu_instance;
  instance->memory_mib = memory_mib;
  instance->slices = static_cast<unsigned>(ReadNumber(profile));
  while (*profile && *profile != '.') ++profile;
  if (*profile) instance->memory_gb = static_cast<unsigned>(ReadNumber(++profile));
  instance->parent = &gpu;
  instance->index = static_cast<unsigned>(gpu.instance_count);
  gpu.instances[gpu.instance_count++] = instance;
}

void ReadOneFile(const char* path, EntryList& list) {
  const long file = OpenFile(path, 0);
  if (file < 0) return;
  char text[kTextBytes];
  const long length = ReadBytes(file, text, sizeof text - 1);
  CloseFile(file);
  if (length <= 0) return;
  text[length] = 0;
  char* rest = text;
  Entry* const gpu = TakeGpu(rest, list);
  while (gpu && *rest) TakeInstance(rest, *gpu);
}

// In the order of their numbers in /dev, which nvidia-smi has, too.
void OrderGpus(EntryList& list) {
  for (size_t i = 1; i < list.gpu_count; ++i) {
    Entry* const gpu = list.gpus[i];
    size_t place = i;
    for (; place > 0 && list.gpus[place - 1]->minor > gpu->minor; --place) {
      list.gpus[place] = list.gpus[place - 1];
    }
    list.gpus[place] = gpu;
  }
  for (size_t i = 0; i < list.gpu_count; ++i) list.gpus[i]->index = static_cast<unsigned>(i);
}

}  // namespace

void ReadEntryFiles(EntryList& list) {
  list.gpu_count = 0;
  entry_count = 0;
  file_count = 0;
  static char path[kPathBytes];
  FindDirectory(path);
  const size_t length = LengthOf(path);
  for (size_t i = 0; i < file_count; ++i) {
    AppendFileName(file_numbers[i], path + length, sizeof path - length);
    ReadOneFile(path, list);
  }
  OrderGpus(list);
}

bool IsEntry(const void* address) {
  const auto begin = reinterpret_cast<uintptr_t>(entries);
  const auto at = reinterpret_cast<uintptr_t>(address);
  return at >= begin && at < begin + entry_count * sizeof(Entry) &&
         (at - begin) % sizeof(Entry) == 0;
}

}  // namespace caip::host::fake_nvml
