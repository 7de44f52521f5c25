#pragma once
// How the thread of a connection is scheduled that answers many small reads. Private to src/http.

#include <string_view>

#include "http/message.h"

namespace caip::http {

/// Schedules a connection's thread for batches (sched(7)) while all that its client asks for are
/// small reads. Each connection has a thread, so a client that reads over 16 connections wakes 16
/// threads in turn. On a busy processor each of them would interrupt the client, which is about to
/// send the next request, or the thread that answers the last one. A thread for batches waits
/// until the running one waits or has used its time: a quarter more reads per second on two cores
/// that the clients use, too (bench/README.md).
///
/// Everything else would lose by it. A write waits for the disk in several steps, a large answer
/// for its reader, and after each a thread for batches waits for its turn. So the connection
/// leaves this policy before it handles such a request, and before it sends such an answer.
///
/// Threads inherit the policy, so those that a handler of reads may start for the rest of the
/// process begin with ScheduleAsUsual. Used by the connection's thread.
class SmallReads {
 public:
  /// Before a request is handled.
  void Begin(std::string_view method) {
    is_read_ = method == "GET";
    if (!is_read_) End();
  }
  /// Before its answer is sent.
  void Answer(const Response& response) {
    if (response.file || response.write_body || response.body.size() > kSmallBytes) return End();
    if (is_read_ && ++in_a_row_ == kMany) ScheduleForBatches();
  }

 private:
  static constexpr size_t kSmallBytes = 64 << 10;
  static constexpr int kMany = 64;

  void ScheduleForBatches();
  void End();

  bool is_read_ = false;
  int in_a_row_ = 0;
  bool is_for_batches_ = false;
};

}  // namespace caip::http
