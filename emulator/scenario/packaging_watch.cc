#include "emulator/scenario/packaging_watch.h"

#include <utility>

namespace caip::scenario {
namespace {

class PackagingWatch final : public engine::Packager {
 public:
  PackagingWatch(std::unique_ptr<engine::Packager> inner, harness::FaultInjector& injector)
      : inner_(std::move(inner)), injector_(injector) {}

  void Prepare(engine::PrepareRequest request,
               std::function<void(engine::Prepared)> done) override {
    harness::Event event{.body = harness::PrepareEvent{request.attempt}};
    const harness::FaultResponse verdict = injector_.Report(std::move(event));
    if (verdict.kind != harness::FaultResponse::Kind::kRefuse) {
      inner_->Prepare(std::move(request), std::move(done));
      return;
    }
    engine::Prepared prepared;
    prepared.run = request.run;
    prepared.attempt = request.attempt;
    prepared.failure = engine::Prepared::Failure{1, verdict.message, ""};
    done(std::move(prepared));
  }
  void Abandon(const engine::RunKey& run) override { inner_->Abandon(run); }

 private:
  std::unique_ptr<engine::Packager> inner_;
  harness::FaultInjector& injector_;
};

}  // namespace

std::unique_ptr<engine::Packager> WatchedPackager(std::unique_ptr<engine::Packager> inner,
                                                  harness::FaultInjector& injector) {
  return std::make_unique<PackagingWatch>(std::move(inner), injector);
}

}  // namespace caip::scenario
