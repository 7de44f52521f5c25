#include "run/replica_outcome.h"

namespace caip::run {
namespace {

constexpr int kAbort = 6;
constexpr int kSegmentationFault = 11;
constexpr int kContainerBase = 128;
constexpr int kSignalMax = 64;

constexpr bool IsTransientSignal(int signal) {
  return signal == kAbort || signal == kSegmentationFault;
}

constexpr std::string_view kSignalNames[] = {
    "",          "SIGHUP",  "SIGINT",    "SIGQUIT", "SIGILL",   "SIGTRAP", "SIGABRT", "SIGBUS",
    "SIGFPE",    "SIGKILL", "SIGUSR1",   "SIGSEGV", "SIGUSR2",  "SIGPIPE", "SIGALRM", "SIGTERM",
    "SIGSTKFLT", "SIGCHLD", "SIGCONT",   "SIGSTOP", "SIGTSTP",  "SIGTTIN", "SIGTTOU", "SIGURG",
    "SIGXCPU",   "SIGXFSZ", "SIGVTALRM", "SIGPROF", "SIGWINCH", "SIGIO",   "SIGPWR",  "SIGSYS"};

// 137 of a container -> 9; 0 where the code tells of no signal.
int SignalBehind(int exit_code) {
  const int signal = exit_code - kContainerBase;
  return signal > 0 && signal <= kSignalMax ? signal : 0;
}

}  // namespace

std::string_view Name(ExitClass how) {
  constexpr std::string_view kNames[] = {"success",         "user failure", "transient",
                                         "killed",          "VM lost",      "out of memory",
                                         "could not start", "not prepared", "service error"};
  return kNames[static_cast<int>(how)];
}

std::string_view Name(Decision decision) {
  constexpr std::string_view kNames[] = {"ignore", "restart replica", "retry job", "fail job",
                                         "succeed job"};
  return kNames[static_cast<int>(decision)];
}

ExitClass Classify(const ReplicaEnd& end, bool is_container) {
  if (end.vm_lost) return ExitClass::kVmLost;
  if (end.could_not_start) return ExitClass::kCouldNotStart;
  if (end.out_of_memory) return ExitClass::kOutOfMemory;
  // The codes 134 and 139 are also those of a Python program whose child died so; a bare 6 or 11
  // is what a Python job's launcher makes of the signal.
  const int code = end.signal ? 0 : end.exit_code;
  const int signal = end.signal ? end.signal : is_container ? SignalBehind(code) : 0;
  if (IsTransientSignal(signal) || IsTransientSignal(SignalBehind(code))) {
    return ExitClass::kTransient;
  }
  if (!is_container && IsTransientSignal(code)) return ExitClass::kTransient;
  if (signal) return ExitClass::kKilled;
  return code == 0 ? ExitClass::kSuccess : ExitClass::kUserFailure;
}

int ReportedExitCode(bool is_container, int exit_code, int signal) {
  if (!signal) return exit_code;
  return is_container ? kContainerBase + signal : signal;
}

std::string_view SignalName(int signal) {
  if (signal <= 0 || signal >= static_cast<int>(std::size(kSignalNames))) return {};
  return kSignalNames[signal];
}

}  // namespace caip::run
