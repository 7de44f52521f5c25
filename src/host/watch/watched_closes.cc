#include <linux/close_range.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string>

#include "host/watch/watched_files.h"
#include "host/watch/watched_process.h"

namespace caip::host {

// Calls that close files, and files that were closed without such a call.

namespace {

// A process that has ended counts when its parent knows of it.
bool HasThreadEnded(pid_t thread) { return ::kill(thread, 0) != 0 && errno == ESRCH; }

bool IsThreadOf(pid_t process, pid_t thread) {
  const std::string threads = "/proc/" + std::to_string(process) + "/task/";
  return ::access((threads + std::to_string(thread)).c_str(), F_OK) == 0;
}

}  // namespace

Handled WatchedFiles::HandleClose(const WatchedCall& call) {
  switch (call.number()) {
    case SYS_close:
      return Close(call, call.descriptor(0));
#ifdef SYS_dup2
    case SYS_dup2:
#endif
    case SYS_dup3:  // closes the replaced file
      if (call.argument(0) == call.argument(1)) return Handled::kNotMine;
      return Close(call, call.descriptor(1));
    case SYS_close_range:
      return CloseRange(call);
    case SYS_execve:
    case SYS_execveat:
      return Execute(call);
    case SYS_exit_group:
      return CloseAll(call, [](const FileWriter&) { return true; });
    default:
      return Handled::kNotMine;
  }
}

// The processes that may have a file open. The caller is one of them, whatever its ancestors.
std::vector<pid_t> WatchedFiles::Processes(pid_t caller) const {
  std::vector<pid_t> processes = DescendantsOf(init_);
  if (std::find(processes.begin(), processes.end(), caller) == processes.end()) {
    processes.push_back(caller);
  }
  return processes;
}

std::optional<FileWriter> WatchedFiles::FindWriter(const std::vector<pid_t>& processes,
                                                   const FileId& file) const {
  for (const pid_t process : processes) {
    const auto writers = WritersOf(process, file);
    if (!writers.empty()) return writers.front();
  }
  return std::nullopt;
}

// Whether the call closes all descriptors under which the replica has the file open for writing.
// If other processes have it open, notes one of them, except the opener: its own calls and its end
// show when the file is closed.
bool WatchedFiles::ClosesAsLast(pid_t caller, const FileId& file, const Closes& closes) {
  const auto own = WritersOf(caller, file);
  if (own.empty() || !std::all_of(own.begin(), own.end(), closes)) return false;
  std::vector<pid_t> others = Processes(caller);
  std::erase(others, caller);
  const auto other = FindWriter(others, file);
  if (!other) return true;
  Written& written = written_.at(file);
  if (!IsThreadOf(other->process, written.opener)) {
    written.is_left = true;
    written.other = *other;
  }
  return false;
}

// Reports a close while the descriptor is still open. All bytes are written by then.
Handled WatchedFiles::Close(const WatchedCall& call, int descriptor) {
  const auto id = written_.empty() ? std::nullopt : call.Identify(descriptor);
  if (!id || !written_.contains(*id)) return Handled::kNotMine;
  const auto closes = [&](const FileWriter& writer) { return writer.descriptor == descriptor; };
  if (!ClosesAsLast(ProcessOf(call), *id, closes)) return Handled::kNotMine;
  // dup2 cannot report an error of the file that it replaces.
  const bool is_answered = call.number() == SYS_close;
  const int pending = written_.at(*id).failing;
  const Verdict verdict = Whole(*id, is_answered);
  if (verdict.kind == Verdict::Kind::kNever) return Handled::kNever;
  const int error = verdict.kind == Verdict::Kind::kFail ? verdict.error : pending;
  if (error == 0 || !is_answered) return Handled::kNotMine;
  call.FailClose(descriptor, error);
  return Handled::kAnswered;
}

// The kernel's filter passes calls with flags (launcher/leader.cc).
Handled WatchedFiles::CloseRange(const WatchedCall& call) {
  const auto first = static_cast<unsigned>(call.argument(0));
  const auto last = static_cast<unsigned>(call.argument(1));
  const auto flags = static_cast<unsigned>(call.argument(2));
  if (first > last || (flags & ~CLOSE_RANGE_UNSHARE) != 0) return Handled::kNotMine;
  return CloseAll(call, [=](const FileWriter& writer) {
    const auto descriptor = static_cast<unsigned>(writer.descriptor);
    return first <= descriptor && descriptor <= last;
  });
}

// Handles a call that closes many descriptors, such as the end of a process.
Handled WatchedFiles::CloseAll(const WatchedCall& call, const Closes& closes) {
  for (const FileId& id : LastClosedBy(call, closes)) {
    if (Whole(id, false).kind == Verdict::Kind::kNever) return Handled::kNever;
  }
  return Handled::kNotMine;
}

// The call may fail, and then it closes nothing. So it ends no more than the event so far.
Handled WatchedFiles::Execute(const WatchedCall& call) {
  const auto closes = [](const FileWriter& writer) { return writer.closes_on_exec; };
  for (const FileId& id : LastClosedBy(call, closes)) {
    Written& written = written_.at(id);
    written.is_left = true;
    if (EndSoFar(written).kind == Verdict::Kind::kNever) return Handled::kNever;
  }
  return Handled::kNotMine;
}

std::vector<FileId> WatchedFiles::LastClosedBy(const WatchedCall& call, const Closes& closes) {
  std::vector<FileId> files;
  if (written_.empty()) return files;
  const pid_t caller = ProcessOf(call);
  for (const auto& [id, written] : written_) {
    if (ClosesAsLast(caller, id, closes)) files.push_back(id);
  }
  return files;
}

// Of a file that its opener has not left, only the opener's end is not shown by a call.
bool WatchedFiles::MayBeClosed(const Written& written, const WatchedCall& call) {
  if (written.is_left) return true;
  return written.opener != call.thread() && HasThreadEnded(written.opener);
}

bool WatchedFiles::MayHaveClosed(const WatchedCall& call) const {
  return std::any_of(written_.begin(), written_.end(),
                     [&](const auto& item) { return MayBeClosed(item.second, call); });
}

// Notes one of the processes that have the file open.
bool WatchedFiles::IsStillOpen(const WatchedCall& call, const FileId& file,
                               Written& written) const {
  const FileWriter& known = written.other;
  if (written.is_left && WriterAt(known.process, known.descriptor, file)) return true;
  written.is_left = true;
  // Twice, because the first look misses a process whose parent ends meanwhile.
  for (int look = 0; look < 2; ++look) {
    const auto writer = FindWriter(Processes(ProcessOf(call)), file);
    if (!writer) continue;
    written.other = *writer;
    return true;
  }
  return false;
}

Verdict WatchedFiles::ReportClosed(const WatchedCall& call) {
  std::vector<FileId> closed;
  for (auto& [id, written] : written_) {
    if (MayBeClosed(written, call) && !IsStillOpen(call, id, written)) closed.push_back(id);
  }
  for (const FileId& id : closed) {
    const Verdict verdict = Whole(id, false);
    if (verdict.kind == Verdict::Kind::kNever) return verdict;
  }
  return {};
}

Verdict WatchedFiles::Whole(const FileId& file, bool is_answered) {
  const Written written = written_.at(file);
  written_.erase(file);
  if (!written.has_changed && written.has_name) return {};
  FileOperation whole{.kind = FileOperation::Kind::kWhole, .path = written.path};
  whole.bytes = written.bytes;
  whole.was_created = written.is_new;
  whole.is_answered = is_answered;
  whole.has_name = written.has_name;
  return watcher_.After(key_, whole, 0);
}

Verdict WatchedFiles::EndSoFar(Written& written) {
  if (!written.has_changed) return {};
  FileOperation whole{.kind = FileOperation::Kind::kWhole, .path = written.path};
  whole.bytes = written.bytes;
  whole.was_created = written.is_new;
  whole.is_answered = false;
  written.is_new = written.has_changed = false;
  written.bytes = 0;
  return watcher_.After(key_, whole, 0);
}

}  // namespace caip::host
