// leak_sweep PROGRAM [ARGUMENT...]: runs a test program and fails it for whatever it leaves behind:
// a process, or a file in the temporary directory. CMake starts each case of a test that starts
// processes through it (caip_test, SWEEP).
//
// It is the subreaper of the test: a process whose parents have ended becomes its child, so it sees
// daemonised grandchildren too. It gives the test a temporary directory of its own. A process that
// is about to end has kGrace to do so.

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;
using SteadyClock = std::chrono::steady_clock;

constexpr std::chrono::seconds kGrace{5};
constexpr int kLeakExitCode = 99;

pid_t test_program = 0;

// A timeout of ctest ends this process; the test program must not outlive it.
void HandOn(int signal) {
  if (test_program > 0) kill(test_program, signal);
}

// "" for a file of a process that has ended. Not by a stream: its buffer throws if the process ends
// between the opening and the reading.
std::string FirstLine(const fs::path& file) {
  std::string text;
  const int descriptor = open(file.c_str(), O_RDONLY | O_CLOEXEC);
  char part[4096];
  ssize_t count = 0;
  while (descriptor >= 0 && (count = read(descriptor, part, sizeof part)) > 0) {
    text.append(part, static_cast<size_t>(count));
  }
  if (descriptor >= 0) close(descriptor);
  for (char& c : text) {
    if (c == '\0') c = ' ';
  }
  return text;
}

// Processes whose parent is this one.
std::vector<pid_t> Children() {
  std::vector<pid_t> children;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator("/proc", error)) {
    const std::string name = entry.path().filename();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    const std::string stat = FirstLine(entry.path() / "stat");
    const size_t end = stat.rfind(')');
    if (end == std::string::npos) continue;
    std::istringstream fields(stat.substr(end + 1));
    char state = 0;
    pid_t parent = 0;
    fields >> state >> parent;
    if (parent == getpid() && state != 'Z') children.push_back(std::stoi(name));
  }
  return children;
}

// Waits for the test program, and reaps every adopted process that ends before it.
int ExitStatusOfTest() {
  while (true) {
    int status = 0;
    const pid_t ended = waitpid(-1, &status, 0);
    if (ended == test_program) return status;
    if (ended < 0 && errno != EINTR) return -1;
  }
}

void ReapAllThatEnded() {
  while (waitpid(-1, nullptr, WNOHANG) > 0) {
  }
}

// The processes that are left after the grace; they are killed.
std::vector<std::string> LeftProcesses() {
  const auto deadline = SteadyClock::now() + kGrace;
  std::vector<pid_t> left;
  do {
    ReapAllThatEnded();
    left = Children();
    if (left.empty()) return {};
    usleep(5000);
  } while (SteadyClock::now() < deadline);
  std::vector<std::string> names;
  for (const pid_t pid : left) {
    names.push_back(std::to_string(pid) + ": " +
                    FirstLine("/proc/" + std::to_string(pid) + "/cmdline"));
  }
  // Killing one makes its children ours, so that the next round finds them.
  for (int round = 0; round < 100 && !left.empty(); ++round) {
    for (const pid_t pid : left) kill(pid, SIGKILL);
    usleep(5000);
    ReapAllThatEnded();
    left = Children();
  }
  return names;
}

std::vector<std::string> LeftFiles(const fs::path& directory) {
  std::vector<std::string> names;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(directory, error)) {
    names.push_back(entry.path().filename());
  }
  fs::remove_all(directory, error);
  return names;
}

bool Report(const char* what, const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    std::cerr << "leak_sweep: the test left " << what << " behind: " << name << "\n";
  }
  return !names.empty();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::cerr << "usage: leak_sweep PROGRAM [ARGUMENT...]\n";
    return 2;
  }
  std::string directory = (fs::temp_directory_path() / "caip-test-XXXXXX").string();
  if (mkdtemp(directory.data()) == nullptr || prctl(PR_SET_CHILD_SUBREAPER, 1) != 0) {
    std::perror("leak_sweep");
    return 2;
  }
  chmod(directory.c_str(), 01777);  // like /tmp: a test may run programs as another user
  setenv("TMPDIR", directory.c_str(), 1);
  test_program = fork();
  if (test_program == 0) {
    execvp(argv[1], argv + 1);
    std::perror(argv[1]);
    _exit(127);
  }
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) signal(number, HandOn);
  const int status = ExitStatusOfTest();
  const bool processes = Report("a process", LeftProcesses());
  const bool files = Report("a file in the temporary directory", LeftFiles(directory));
  if (WIFSIGNALED(status)) {
    std::cerr << "leak_sweep: the test ended by signal " << WTERMSIG(status) << "\n";
    return 128 + WTERMSIG(status);
  }
  if (WEXITSTATUS(status) != 0) return WEXITSTATUS(status);
  return processes || files ? kLeakExitCode : 0;
}
