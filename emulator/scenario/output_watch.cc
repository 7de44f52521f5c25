#include "emulator/scenario/output_watch.h"

#include <utility>

#include "harness/events/replica_name.h"

namespace caip::scenario {
namespace {

using harness::Happening;

class WatchedLogSink final : public engine::LogSink {
 public:
  WatchedLogSink(engine::LogSink& inner, harness::Director& director, harness::StepReader steps,
                 OutputCompany company)
      : inner_(inner), director_(director), steps_(std::move(steps)), company_(company) {}

  void Write(std::vector<engine::LogLine> lines) override {
    std::vector<engine::LogLine> arriving;
    arriving.reserve(lines.size());
    for (engine::LogLine& line : lines) {
      ++company_.lines;
      if (company_.onlooker) company_.onlooker->Printed(line);
      Happening happening = steps_.Read(line.message);
      happening.replica = harness::ReplicaNameOf(line.task, line.run.trial);
      if (happening.kind == Happening::Kind::kLog) {
        happening.detail = std::string(run::Name(line.severity));
      }
      const auto verdict = director_.Note(std::move(happening)).kind;
      if (verdict == harness::Verdict::Kind::kDrop) continue;
      if (verdict == harness::Verdict::Kind::kTwice) arriving.push_back(line);
      arriving.push_back(std::move(line));
    }
    inner_.Write(std::move(arriving));
  }
  void Flush() override { inner_.Flush(); }

 private:
  engine::LogSink& inner_;
  harness::Director& director_;
  harness::StepReader steps_;
  OutputCompany company_;
};

class WatchedService final : public engine::LogSink {
 public:
  WatchedService(engine::LogSink& inner, harness::Director& director)
      : inner_(inner), director_(director) {}
  void Write(std::vector<engine::LogLine> lines) override {
    for (const engine::LogLine& line : lines) {
      if (line.task != kService || line.severity == run::Severity::kDebug) continue;
      Happening happening;
      happening.kind = Happening::Kind::kLog;
      happening.replica = kService;
      happening.text = line.message;
      happening.detail = std::string(run::Name(line.severity));
      director_.Note(std::move(happening));
    }
    inner_.Write(std::move(lines));
  }
  void Flush() override { inner_.Flush(); }

 private:
  static constexpr char kService[] = "service";
  engine::LogSink& inner_;
  harness::Director& director_;
};

}  // namespace

std::unique_ptr<engine::LogSink> WatchedServiceLog(engine::LogSink& inner,
                                                   harness::Director& director) {
  return std::make_unique<WatchedService>(inner, director);
}

std::unique_ptr<engine::LogSink> WatchedOutput(engine::LogSink& inner, harness::Director& director,
                                               harness::StepReader steps, OutputCompany company) {
  return std::make_unique<WatchedLogSink>(inner, director, std::move(steps), company);
}

}  // namespace caip::scenario
