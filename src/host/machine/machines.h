#pragma once
// Machines: each replica's own namespaces, with an address in the network of its run. A check
// whether this host allows them.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/files.h"
#include "engine/ports.h"
#include "host/abilities.h"
#include "host/launcher/protocol.h"

namespace caip::host {

/// The address of the hub of each run's network: replicas reach the emulator there.
inline constexpr std::string_view kHubAddress = "10.128.0.1";
/// The addresses of caip-nat (src/host/nat/main.cc): a name server, and this host's 127.0.0.1.
inline constexpr std::string_view kNameServerAddress = "10.128.255.253";
inline constexpr std::string_view kHostAddress = "10.128.255.254";

/// Files of this host that a machine sees as its own, and may change. No other machine has them.
struct MachineConfiguration {
  Path hosts;                // /etc/hosts
  Path resolver;             // /etc/resolv.conf
  bool has_own_root = true;  // else the machine sees the host's root
  Path host_name = {};       // /etc/hostname; empty: MachineFiles gives the machine one
};

/// Writes these files.
Status WriteConfiguration(const engine::ReplicaLaunch& launch,
                          const MachineConfiguration& configuration);

/// The machine of a replica for the launcher.
launcher::Machine MachineFor(const engine::ReplicaLaunch& launch,
                             const MachineConfiguration& configuration);

/// The text of a machine's /etc/resolv.conf (man 5 resolv.conf): the name server of its network,
/// with the search list and options of this host, whose file's text is `own`.
std::string ResolverText(std::string_view own);
/// Writes that text into the file, unless the file has it already.
Status WriteResolver(const Path& file);

/// An IPv4 address in network byte order.
Result<uint32_t> AddressNumber(const std::string& address);

/// A place at which a network listens.
Result<launcher::Endpoint> EndpointAt(const std::string& address, uint16_t port);

/// What the launcher could not do, and why: "making the namespaces of a machine: Operation not
/// permitted". `is_overlay`: the mount that failed was an overlay.
std::string WhyNoMachine(const launcher::Report& report, bool is_overlay = false);

/// Tries to start a program on a machine. nullopt if replicas can have machines on this host, else
/// the reason. `program`: caip-launcher. `state`: where their boot disks would be; empty: they see
/// the host's files.
std::optional<std::string> TryMachine(const Path& program, const Path& state = {});

/// The same, but a trial that succeeded is not repeated until the host, its mounts, the rights of
/// this process or caip-launcher change: `<state>/machines.json` notes it. A process tries once for
/// each file system.
std::optional<std::string> TryMachineOnce(const Path& program, const Path& state);

}  // namespace caip::host
