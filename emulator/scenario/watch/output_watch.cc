#include "emulator/scenario/watch/output_watch.h"

#include <utility>

#include "harness/events/replica_name.h"

namespace caip::scenario {
namespace {

using harness::Event;

class WatchedLogSink final : public engine::LogSink {
 public:
  WatchedLogSink(engine::LogSink& inner, harness::FaultInjector& injector,
                 harness::StepReader steps, std::atomic<int64_t>& count, RunObserver* observer)
      : inner_(inner),
        injector_(injector),
        steps_(std::move(steps)),
        count_(count),
        observer_(observer) {}

  void Write(std::vector<engine::LogLine> lines) override {
    std::vector<engine::LogLine> arriving;
    arriving.reserve(lines.size());
    for (engine::LogLine& line : lines) {
      ++count_;
      if (observer_) observer_->Printed(line);
      const Kind kind = Report(line);
      if (kind == Kind::kDrop) continue;
      if (kind == Kind::kTwice) arriving.push_back(line);
      arriving.push_back(std::move(line));
    }
    inner_.Write(std::move(arriving));
  }
  Status Flush() override { return inner_.Flush(); }
  bool IsStored(std::function<void()> stored) override {
    return inner_.IsStored(std::move(stored));
  }

 private:
  using Kind = harness::FaultResponse::Kind;

  // What is to happen to the line in the log.
  Kind Report(const engine::LogLine& line) {
    Kind kind = Kind::kGoOn;
    const std::string replica = harness::ReplicaNameOf(line.task, line.run.trial);
    for (Event& event : steps_.Read(replica, line.message)) {
      event.replica = replica;
      if (auto* log = std::get_if<harness::LogEvent>(&event.body)) {
        log->severity = std::string(run::Name(line.severity));
      }
      const Kind response = injector_.Report(std::move(event)).kind;
      if (kind == Kind::kGoOn) kind = response;
    }
    return kind;
  }

  engine::LogSink& inner_;
  harness::FaultInjector& injector_;
  harness::StepReader steps_;
  std::atomic<int64_t>& count_;
  RunObserver* observer_;
};

class WatchedService final : public engine::LogSink {
 public:
  WatchedService(engine::LogSink& inner, harness::FaultInjector& injector)
      : inner_(inner), injector_(injector) {}
  void Write(std::vector<engine::LogLine> lines) override {
    for (const engine::LogLine& line : lines) {
      if (line.task != kService || line.severity == run::Severity::kDebug) continue;
      Event event{.replica = kService};
      event.body = harness::LogEvent{line.message, std::string(run::Name(line.severity))};
      injector_.Report(std::move(event));
    }
    inner_.Write(std::move(lines));
  }
  Status Flush() override { return inner_.Flush(); }
  bool IsStored(std::function<void()> stored) override {
    return inner_.IsStored(std::move(stored));
  }

 private:
  static constexpr char kService[] = "service";
  engine::LogSink& inner_;
  harness::FaultInjector& injector_;
};

}  // namespace

std::unique_ptr<engine::LogSink> WatchedServiceLog(engine::LogSink& inner,
                                                   harness::FaultInjector& injector) {
  return std::make_unique<WatchedService>(inner, injector);
}

std::unique_ptr<engine::LogSink> WatchedOutput(engine::LogSink& inner,
                                               harness::FaultInjector& injector,
                                               harness::StepReader steps,
                                               std::atomic<int64_t>& lines, RunObserver* observer) {
  return std::make_unique<WatchedLogSink>(inner, injector, std::move(steps), lines, observer);
}

}  // namespace caip::scenario
