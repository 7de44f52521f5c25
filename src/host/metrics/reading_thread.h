#pragma once
// The worker thread of a launcher that reads files of replicas while another launcher runs them.

#include <functional>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/files.h"
#include "base/result.h"
#include "engine/ports.h"
#include "host/metrics/directory_watch.h"

namespace caip::host {

/// Works in turns, on a thread of its own: handles the events of the watched directories, runs the
/// tasks that other threads have posted, and reads. It sleeps until there is an event or a task,
/// or a short time if something is left to do. A turn must be short, because the thread serves all
/// replicas: each part of it does a bounded amount of work.
///
/// Errors: Start fails if the process may have no more threads or descriptors. The caller then must
/// not launch the replica (EndUnread). A directory that cannot be watched is an error of
/// DirectoryWatch::Add. Nothing else fails.
class ReadingThread {
 public:
  /// False: the task is not done, and runs again in the next turn. Tasks run in their order.
  using Task = std::function<bool()>;

  /// What the thread calls. The callbacks outlive it.
  struct Callbacks {
    DirectoryWatch::Changed changed;
    /// Called at the end of each turn. False: something is left to read, so that another turn
    /// follows without an event.
    std::function<bool()> read;
  };

  explicit ReadingThread(Callbacks callbacks);
  ~ReadingThread() { Stop(); }
  ReadingThread(const ReadingThread&) = delete;
  ReadingThread& operator=(const ReadingThread&) = delete;

  /// Starts the thread if it does not run yet. It can be called again after an error. Any thread.
  Status Start();
  /// Adds a task, after a Start that has succeeded. Any thread.
  void Post(Task task);
  /// Ends the thread after its current turn. Tasks that are not done do not run again, and later
  /// ones do not run at all. Any thread but this one.
  void Stop();

  /// The watched directories. Only for tasks and callbacks.
  DirectoryWatch& watch() { return watch_; }

 private:
  void Wake();
  void Run();
  bool AwaitTurn(bool is_all_done);
  void RunTasks();

  const std::function<bool()> read_;
  Fd wake_;  // an eventfd; set before the thread starts
  // Only the thread uses these members.
  DirectoryWatch watch_;
  std::vector<Task> tasks_;

  std::mutex mutex_;
  std::vector<Task> posted_;  // guarded by mutex_
  bool stopping_ = false;     // guarded by mutex_
  std::thread thread_;        // started with mutex_
};

/// Ends a launch before it begins, because Start has failed: writes the reason to the log and
/// reports the exit of a replica that did not start. Where the error may pass, it counts as lost
/// with its machine.
void EndUnread(const engine::ReplicaLaunch& launch, const engine::Launcher::Listener& listener,
               const Error& why, engine::LogSink& log, const Clock& clock);

}  // namespace caip::host
