#include "host/process/replica_output.h"

#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <future>
#include <map>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "base/clock.h"
#include "host/process/container_entry.h"
#include "host/process/line_splitter.h"
#include "host/process/log_entry.h"

namespace caip::host {
namespace {

constexpr int kPipeBytes = 256 << 10;  // requested size: a large pipe wakes the thread less often
constexpr size_t kBatchLines = 8192;   // passed to the sink in one call
// after this time without output, a traceback is complete
constexpr std::chrono::milliseconds kQuiet{200};
// After this time, an incomplete traceback is emitted. Python writes it line by line and reads the
// sources of its frames in between, which takes long on a busy host.
constexpr std::chrono::milliseconds kQuietForHalf{3000};

using Source = ReplicaOutput::Source;

// One pipe of one replica.
class Stream {
 public:
  Stream(const Source& source, host::OutputStream which, Fd fd, std::vector<engine::LogLine>& batch)
      : source_(source), fd_(std::move(fd)), classifier_(which), batch_(batch) {
    ::fcntl(fd_.get(), F_SETFL, O_NONBLOCK);
    ::fcntl(fd_.get(), F_SETPIPE_SZ, kPipeBytes);
    take_ = [this](const host::CapturedEntry& entry) {
      if (source_.reader == run::LogReader::kLauncher) Append(entry);
    };
  }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  int fd() const { return fd_.get(); }

  /// Reads once. Returns 0 or less if there is no data, or at the end.
  ssize_t Read(std::vector<char>& buffer, Instant now) {
    now_ = now;
    ssize_t count;
    do {
      count = ::read(fd_.get(), buffer.data(), buffer.size());
    } while (count < 0 && errno == EINTR);
    if (count <= 0) return count;
    Take({buffer.data(), static_cast<size_t>(count)}, now);
    return count;
  }

  /// Reads the contents of the pipe. Returns even if a writer never stops.
  void ReadAll(std::vector<char>& buffer, Instant now) {
    if (!fd_.valid()) return;
    ssize_t left = std::max(::fcntl(fd_.get(), F_GETPIPE_SZ), kPipeBytes);
    ssize_t count;
    while (left > 0 && (count = Read(buffer, now)) > 0) left -= count;
  }

  void Take(std::string_view bytes, Instant now) {
    now_ = now;
    last_read_ = MonotonicNow();
    lines_.Feed(bytes, [this](std::string_view line) { Line(line); });
  }

  /// Reads the rest. The writers are dead, so the pipe has at most its size.
  void Drain(std::vector<char>& buffer, Instant now) {
    now_ = now;
    ReadAll(buffer, now);
    lines_.Finish([this](std::string_view line) { Line(line); });
    classifier_.Finish(take_);
    fd_.Close();
  }

  bool holds() const { return classifier_.holds(); }
  void FlushIfQuiet(MonotonicTime at, Instant now) {
    const auto patience = classifier_.is_unfinished() ? kQuietForHalf : kQuiet;
    if (!classifier_.holds() || at - last_read_ < patience) return;
    now_ = now;
    classifier_.Flush(take_);
  }
  const std::string& traceback() const { return classifier_.last_traceback(); }

 private:
  void Line(std::string_view line) {
    if (IsSafeText(line)) {
      SafeLine(line);
    } else {
      SafeLine(SafeText(line));
    }
  }

  // The classifier also finds the traceback of a container, whose lines are entries of their own.
  void SafeLine(std::string_view line) {
    classifier_.Feed(line, take_);
    if (source_.reader == run::LogReader::kLauncher) return;
    if (std::optional<engine::LogLine> entry = ContainerEntry(line)) {
      entry->run = source_.run;
      entry->task = source_.task;
      entry->time = now_;
      batch_.push_back(*std::move(entry));
    }
  }

  void Append(const host::CapturedEntry& entry) {
    engine::LogLine& line = batch_.emplace_back();
    line.run = source_.run;
    line.task = source_.task;
    line.severity = static_cast<engine::Severity>(entry.severity);
    line.time = now_;
    line.message = entry.message;
    line.pathname = entry.pathname;
    line.line_number = entry.line_number;
    line.thread = entry.thread;
  }

  const Source& source_;
  Fd fd_;
  LineSplitter lines_{kLogLineBytesMax};
  host::LineClassifier classifier_;
  host::LineClassifier::Emit take_;
  std::vector<engine::LogLine>& batch_;
  Instant now_{};
  MonotonicTime last_read_{};
};

}  // namespace

// The reading thread and its data.
class ReplicaOutput::Reader {
 public:
  Reader(const Clock& clock, engine::LogSink& sink)
      : clock_(clock),
        sink_(sink),
        epoll_(::epoll_create1(EPOLL_CLOEXEC)),
        wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    Watch(wake_.get(), nullptr);
    thread_ = std::thread([this] { Run(); });
  }
  ~Reader() {
    Post([this] { stopping_ = true; });
    thread_.join();
  }

  /// Runs `order` on the reading thread.
  void Post(std::function<void()> order) {
    {
      const std::lock_guard lock(mutex_);
      orders_.push_back(std::move(order));
    }
    const uint64_t one = 1;
    while (::write(wake_.get(), &one, sizeof one) < 0 && errno == EINTR) continue;
  }

  void Add(uint64_t replica, Source source, Fd out, Fd err, std::vector<Remark> remarks) {
    Write(source, std::move(remarks));
    auto pipes = std::make_unique<Pipes>(std::move(source), std::move(out), std::move(err), batch_);
    Watch(pipes->out.fd(), &pipes->out);
    Watch(pipes->err.fd(), &pipes->err);
    replicas_[replica] = std::move(pipes);
  }

  void Write(const Source& source, std::vector<Remark> remarks) {
    AddRemarks(source, std::move(remarks), clock_.Now());
    HandOver();
  }

  void Feed(uint64_t replica, host::OutputStream which, std::string_view bytes) {
    const auto found = replicas_.find(replica);
    if (found == replicas_.end()) return;
    Pipes& pipes = *found->second;
    Stream& stream = which == host::OutputStream::kStdout ? pipes.out : pipes.err;
    const Instant now = clock_.Now();
    stream.ReadAll(buffer_, now);
    stream.Take(bytes, now);
    HandOver();
  }

  void Finish(uint64_t replica, std::vector<Remark> remarks, const Done& done) {
    const auto found = replicas_.find(replica);
    if (found == replicas_.end()) return done("");  // unknown replica
    Pipes& pipes = *found->second;
    Unwatch(pipes.out.fd());
    Unwatch(pipes.err.fd());
    const Instant now = clock_.Now();
    pipes.out.Drain(buffer_, now);
    pipes.err.Drain(buffer_, now);
    AddRemarks(pipes.source, std::move(remarks), now);
    HandOver();
    std::string traceback = pipes.err.traceback();
    replicas_.erase(found);
    done(std::move(traceback));
  }

 private:
  struct Pipes {
    Pipes(Source from, Fd out_fd, Fd err_fd, std::vector<engine::LogLine>& batch)
        : source(std::move(from)),
          out(source, host::OutputStream::kStdout, std::move(out_fd), batch),
          err(source, host::OutputStream::kStderr, std::move(err_fd), batch) {}
    Source source;
    Stream out;
    Stream err;
  };

  void Watch(int fd, Stream* stream) {
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.ptr = stream;
    ::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event);
  }

  // Before the descriptor closes: the kernel keeps an event's pointer while any process has the
  // pipe, and a fork has a copy until it executes its program.
  void Unwatch(int fd) { ::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, fd, nullptr); }

  void Run() {
    std::vector<epoll_event> events(64);
    while (!stopping_) {
      const int timeout_ms = AnythingHeld() ? static_cast<int>(kQuiet.count()) : -1;
      const int count =
          ::epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()), timeout_ms);
      const Instant now = clock_.Now();
      bool is_woken = false;
      for (int i = 0; i < count; ++i) {
        auto* stream = static_cast<Stream*>(events[i].data.ptr);
        if (!stream) {
          is_woken = true;
        } else if (stream->Read(buffer_, now) == 0) {
          Unwatch(stream->fd());
        }
        if (batch_.size() >= kBatchLines) HandOver();
      }
      FlushQuiet(now);
      HandOver();
      if (is_woken) RunOrders();  // last, because an order may end a stream that has an event
    }
  }

  bool AnythingHeld() const {
    return std::any_of(replicas_.begin(), replicas_.end(),
                       [](const auto& entry) { return entry.second->err.holds(); });
  }

  void FlushQuiet(Instant now) {
    const auto at = MonotonicNow();
    for (auto& [id, pipes] : replicas_) pipes->err.FlushIfQuiet(at, now);
  }

  void RunOrders() {
    uint64_t count;
    while (::read(wake_.get(), &count, sizeof count) < 0 && errno == EINTR) continue;
    std::vector<std::function<void()>> orders;
    {
      const std::lock_guard lock(mutex_);
      orders.swap(orders_);
    }
    for (const auto& order : orders) order();
  }

  void AddRemarks(const Source& source, std::vector<Remark> remarks, Instant now) {
    for (Remark& remark : remarks) {
      batch_.push_back(
          {source.run, source.task, remark.severity, now, std::move(remark.message), "", 0, ""});
    }
  }

  void HandOver() {
    if (batch_.empty()) return;
    sink_.Write(std::exchange(batch_, {}));
    batch_.reserve(kBatchLines / 8);
  }

  const Clock& clock_;
  engine::LogSink& sink_;
  Fd epoll_;
  Fd wake_;
  std::mutex mutex_;
  std::vector<std::function<void()>> orders_;  // guarded by mutex_
  // Only the reading thread uses the other members.
  std::map<uint64_t, std::unique_ptr<Pipes>> replicas_;
  std::vector<engine::LogLine> batch_;
  std::vector<char> buffer_ = std::vector<char>(kPipeBytes);
  bool stopping_ = false;
  std::thread thread_;
};

ReplicaOutput::ReplicaOutput(const Clock& clock, engine::LogSink& sink)
    : reader_(std::make_unique<Reader>(clock, sink)) {}

ReplicaOutput::~ReplicaOutput() = default;

void ReplicaOutput::Add(uint64_t replica, Source source, Fd out, Fd err,
                        std::vector<Remark> remarks) {
  // std::function must be copyable, and descriptors are not.
  auto fds = std::make_shared<std::pair<Fd, Fd>>(std::move(out), std::move(err));
  reader_->Post([reader = reader_.get(), replica, fds, source = std::move(source),
                 remarks = std::move(remarks)] {
    reader->Add(replica, source, std::move(fds->first), std::move(fds->second), remarks);
  });
}

void ReplicaOutput::Write(Source source, std::vector<Remark> remarks) {
  if (remarks.empty()) return;
  reader_->Post([reader = reader_.get(), source = std::move(source), remarks = std::move(remarks)] {
    reader->Write(source, remarks);
  });
}

void ReplicaOutput::Feed(uint64_t replica, host::OutputStream stream, std::string bytes) {
  const auto fed = std::make_shared<std::promise<void>>();
  reader_->Post([reader = reader_.get(), fed, replica, stream, bytes = std::move(bytes)] {
    reader->Feed(replica, stream, bytes);
    fed->set_value();
  });
  fed->get_future().wait();
}

void ReplicaOutput::Finish(uint64_t replica, std::vector<Remark> remarks, Done done) {
  reader_->Post([reader = reader_.get(), replica, remarks = std::move(remarks),
                 done = std::move(done)] { reader->Finish(replica, remarks, done); });
}

}  // namespace caip::host
