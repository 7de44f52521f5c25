#pragma once
// Installations that take as long, and fail as often, as they are told to.

#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "engine/ports.h"
#include "harness/simulation/hand_clock.h"

namespace caip::harness {

/// Installs nothing, in the agenda's time.
class ScriptedPackager final : public engine::Packager {
 public:
  explicit ScriptedPackager(Agenda& agenda) : agenda_(agenda) {}
  Duration takes{0};
  std::function<std::optional<engine::Prepared::Failure>(const engine::PrepareRequest&)> fails;

  void Prepare(engine::PrepareRequest request, std::function<void(engine::Prepared)> done) override;
  void Abandon(const engine::RunKey& run) override { working_.erase(run); }
  size_t working() const { return working_.size(); }
  const std::vector<engine::PrepareRequest>& requests() const { return requests_; }
  void LoseAll() { working_.clear(); }

 private:
  Agenda& agenda_;
  std::map<engine::RunKey, uint64_t> working_;
  std::vector<engine::PrepareRequest> requests_;
  uint64_t numbers_ = 0;
};

}  // namespace caip::harness
