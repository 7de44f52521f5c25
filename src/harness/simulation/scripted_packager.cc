#include "harness/simulation/scripted_packager.h"

#include <utility>

namespace caip::harness {

void ScriptedPackager::Prepare(engine::PrepareRequest request,
                               std::function<void(engine::Prepared)> done) {
  const uint64_t number = ++numbers_;
  const size_t at = requests_.size();
  working_[request.run] = number;
  requests_.push_back(std::move(request));
  agenda_.In(takes, [this, number, at, done = std::move(done)] {
    const engine::PrepareRequest& asked = requests_[at];
    const auto found = working_.find(asked.run);
    if (found == working_.end() || found->second != number) return;
    working_.erase(found);
    engine::Prepared prepared{asked.run, asked.attempt,  "/envs/e1/bin/python3",
                              {},        "/envs/e1/bin", {}};
    if (fails) prepared.failure = fails(asked);
    done(std::move(prepared));
  });
}

}  // namespace caip::harness
