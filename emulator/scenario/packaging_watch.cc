#include "emulator/scenario/packaging_watch.h"

#include <utility>

namespace caip::scenario {
namespace {

class PackagingWatch final : public engine::Packager {
 public:
  PackagingWatch(engine::Packager& inner, harness::Director& director)
      : inner_(inner), director_(director) {}

  void Prepare(engine::PrepareRequest request,
               std::function<void(engine::Prepared)> done) override {
    harness::Happening happening;
    happening.kind = harness::Happening::Kind::kPrepare;
    happening.step = request.attempt;
    const harness::Verdict verdict = director_.Note(std::move(happening));
    if (verdict.kind != harness::Verdict::Kind::kRefuse) {
      inner_.Prepare(std::move(request), std::move(done));
      return;
    }
    engine::Prepared prepared;
    prepared.run = request.run;
    prepared.attempt = request.attempt;
    prepared.failure = engine::Prepared::Failure{1, verdict.words, ""};
    done(std::move(prepared));
  }
  void Abandon(const engine::RunKey& run) override { inner_.Abandon(run); }

 private:
  engine::Packager& inner_;
  harness::Director& director_;
};

}  // namespace

std::unique_ptr<engine::Packager> WatchedPackager(engine::Packager& inner,
                                                  harness::Director& director) {
  return std::make_unique<PackagingWatch>(inner, director);
}

}  // namespace caip::scenario
