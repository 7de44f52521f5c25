#include "host/metrics/reading_thread.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <iterator>
#include <system_error>

#include "host/errors.h"
#include "host/process/replica_end.h"

namespace caip::host {
namespace {

constexpr int kNextTurnMs = 20;  // of a turn that follows without an event

Fd MakeWakeEvent() { return Fd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)); }

}  // namespace

ReadingThread::ReadingThread(Callbacks callbacks)
    : read_(std::move(callbacks.read)),
      wake_(MakeWakeEvent()),
      watch_(std::move(callbacks.changed)) {}

Status ReadingThread::Start() {
  const std::lock_guard lock(mutex_);
  if (thread_.joinable() || stopping_) return Ok{};
  if (!wake_.valid()) {  // no descriptor was free before
    Fd wake = MakeWakeEvent();
    if (!wake.valid()) return errors::CannotMakeEventfd(errno);
    wake_ = std::move(wake);
  }
  try {
    thread_ = std::thread([this] { Run(); });
  } catch (const std::system_error& failure) {
    return errors::CannotStartThread(failure.code().value());
  }
  return Ok{};
}

void ReadingThread::Post(Task task) {
  const std::lock_guard lock(mutex_);
  if (stopping_) return;
  posted_.push_back(std::move(task));
  Wake();
}

void ReadingThread::Stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    Wake();
  }
  if (thread_.joinable()) thread_.join();
}

void ReadingThread::Wake() {
  const uint64_t one = 1;
  [[maybe_unused]] const auto written = ::write(wake_.get(), &one, sizeof one);
}

void ReadingThread::Run() {
  bool is_all_done = true;
  while (AwaitTurn(is_all_done)) {
    watch_.Handle();
    RunTasks();
    is_all_done = read_() && tasks_.empty();
  }
}

// False: the thread ends.
bool ReadingThread::AwaitTurn(bool is_all_done) {
  struct pollfd waits[] = {{wake_.get(), POLLIN, 0}, {watch_.descriptor(), POLLIN, 0}};
  ::poll(waits, 2, is_all_done ? -1 : kNextTurnMs);
  uint64_t count = 0;
  [[maybe_unused]] const auto taken = ::read(wake_.get(), &count, sizeof count);
  const std::lock_guard lock(mutex_);
  if (stopping_) return false;
  std::move(posted_.begin(), posted_.end(), std::back_inserter(tasks_));
  posted_.clear();
  return true;
}

void ReadingThread::RunTasks() {
  std::vector<Task> again;
  for (Task& task : tasks_) {
    if (!task()) again.push_back(std::move(task));
  }
  tasks_ = std::move(again);
}

void EndUnread(const engine::ReplicaLaunch& launch, const engine::Launcher::Listener& listener,
               const Error& why, engine::LogSink& log, const Clock& clock) {
  std::vector<engine::LogLine> lines;
  for (auto& remark : RemarksWithoutStart(why, /*launcher_lives=*/true)) {
    lines.push_back(
        {launch.key.run, launch.task, remark.severity, clock.Now(), std::move(remark.message)});
  }
  if (!lines.empty()) log.Write(std::move(lines));
  if (listener.on_exit) listener.on_exit(ExitWithoutStart(launch.key, why));
}

}  // namespace caip::host
