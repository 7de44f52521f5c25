// caip-nvidia-smi: the `nvidia-smi` of replicas with fake GPUs. It is linked statically, because an
// image may have neither a shell nor a C library, and reads the files beside it (smi_answers.h).

#include <dirent.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "host/devices/smi/smi_answers.h"

namespace {

namespace smi = caip::host::smi;

// Of this program. A replica finds it as a file of its own, whatever file of the host that is.
std::string OwnDirectory() {
  char path[PATH_MAX];
  const ssize_t length = ::readlink("/proc/self/exe", path, sizeof path);
  if (length <= 0) return smi::kDirectory;
  const std::string own(path, static_cast<size_t>(length));
  return own.substr(0, own.rfind('/'));
}

std::vector<std::string> FilesOfGpus(const std::string& directory) {
  std::vector<std::string> names;
  DIR* const opened = ::opendir(directory.c_str());
  if (!opened) return names;
  while (const dirent* entry = ::readdir(opened)) {
    const size_t begin = std::strlen(smi::kFileBegin);
    if (std::strncmp(entry->d_name, smi::kFileBegin, begin) != 0) continue;
    names.emplace_back(entry->d_name);
  }
  ::closedir(opened);
  const auto by_number = [](const std::string& a, const std::string& b) {
    return a.size() != b.size() ? a.size() < b.size() : a < b;
  };
  std::sort(names.begin(), names.end(), by_number);
  return names;
}

std::vector<smi::SmiGpu> ReadGpus(const std::string& directory) {
  std::vector<smi::SmiGpu> files;
  for (const std::string& name : FilesOfGpus(directory)) {
    std::FILE* const file = std::fopen((directory + "/" + name).c_str(), "re");
    if (!file) continue;
    char text[1024];
    const size_t length = std::fread(text, 1, sizeof text, file);
    std::fclose(file);
    if (const auto gpu = smi::ParseSmiGpu({text, length})) files.push_back(*gpu);
  }
  return smi::MergeSmiGpus(files);
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  const smi::SmiAnswer answer = smi::AnswerSmi(words, ReadGpus(OwnDirectory()));
  std::fputs(answer.err.c_str(), stderr);
  std::fputs(answer.out.c_str(), stdout);
  return std::fflush(stdout) == 0 ? answer.exit_code : 1;
}
