#pragma once
// host:port addresses for the tasks of clusters.

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/files.h"
#include "base/random.h"
#include "engine/ports.h"

namespace caip::host {

/// An exclusive name on this host, between all emulators of all users, for a GPU, a block of
/// loopback addresses or a port. It is a socket in the abstract namespace: it leaves no file, and
/// the kernel frees it when the process ends, killed or not. Move-only.
class HostClaim {
 public:
  /// nullopt when another process holds it. `name` is at most 90 bytes.
  static std::optional<HostClaim> Take(const std::string& name);

 private:
  explicit HostClaim(Fd socket) : socket_(std::move(socket)) {}
  Fd socket_;
};

/// The address at which this host reaches itself.
inline constexpr std::string_view kLoopbackAddress = "127.0.0.1";

/// The port of every task on the service.
inline constexpr int kTaskPort = 2222;

/// The block 127.a.b.0/24. Blocks with other uses are never lent: 127.0.0 (localhost), 127.0.1
/// (Debian's own host name), 127.0.53 (systemd-resolved).
struct LoopbackBlock {
  int a = 0;
  int b = 0;
  auto operator<=>(const LoopbackBlock&) const = default;
};
inline constexpr size_t kBlockAddresses = 250;  // .2 to .251 of a block

/// Parses an address in the lender's form; nullopt for other texts.
std::optional<LoopbackBlock> BlockOf(std::string_view address);

/// Lends each replica a loopback address of its own, all with port 2222. The seed chooses the
/// blocks, which are claimed on the whole host, so that two emulators never collide.
class LoopbackAddresses final : public engine::AddressLender {
 public:
  explicit LoopbackAddresses(Random random) : random_(random) {}

  Result<std::vector<std::string>> Lend(const engine::RunKey& run, size_t count,
                                        const std::vector<std::string>& kept) override;
  void Release(const engine::RunKey& run) override { claims_.erase(run); }

 private:
  bool TakeKept(const engine::RunKey& run, const std::vector<std::string>& kept);
  std::optional<std::vector<std::string>> TakeBlock(size_t count, std::vector<HostClaim>& claims);

  Random random_;
  std::map<engine::RunKey, std::vector<HostClaim>> claims_;
};

/// Lends ports of localhost, for hosts where only 127.0.0.1 works. The kernel never assigns these
/// ports itself, so none is lost before its use.
class PortAddresses final : public engine::AddressLender {
 public:
  explicit PortAddresses(Random random) : random_(random) {}

  Result<std::vector<std::string>> Lend(const engine::RunKey& run, size_t count,
                                        const std::vector<std::string>& kept) override;
  void Release(const engine::RunKey& run) override { claims_.erase(run); }

 private:
  Random random_;
  std::map<engine::RunKey, std::vector<HostClaim>> claims_;
};

/// Lends loopback addresses, and ports of localhost while a program listens on port 2222 of all
/// addresses: that is the host's fault, and no job must fail for it. A warning in the job's log
/// names the remedy.
class LoopbackElsePorts final : public engine::AddressLender {
 public:
  /// Log and clock outlive it.
  LoopbackElsePorts(const Random& chance, engine::LogSink& log, const Clock& clock)
      : loopback_(chance.Fork("addresses")),
        ports_(chance.Fork("ports")),
        log_(log),
        clock_(clock) {}

  Result<std::vector<std::string>> Lend(const engine::RunKey& run, size_t count,
                                        const std::vector<std::string>& kept) override;
  void Release(const engine::RunKey& run) override;

 private:
  LoopbackAddresses loopback_;
  PortAddresses ports_;
  engine::LogSink& log_;
  const Clock& clock_;
};

/// Lends the addresses of a run's own network, 10.128.0.2:2222 and so on. Runs may have the same
/// ones, because no run sees the network of another.
class MachineAddresses final : public engine::AddressLender {
 public:
  Result<std::vector<std::string>> Lend(const engine::RunKey& run, size_t count,
                                        const std::vector<std::string>& kept) override;
  void Release(const engine::RunKey&) override {}
};

/// Whether a server could listen there now.
bool CanListen(const std::string& ip, int port);

/// Whether a program of this host listens on port 2222 of all addresses, so that no replica can.
bool IsTaskPortTaken();

}  // namespace caip::host
