#pragma once
// The file system of a machine: a copy-on-write view of the host's, with a boot disk of its own.
//
//   <boot disk>/changes   what the replica writes, by its paths; the upper layer of the overlay
//   <boot disk>/work      belongs to the overlay
//   <boot disk>/root      where a file system in memory is mounted, in the machine only: it has the
//                         overlay and its middle layer (machine_places.h)
//   <boot disk>/layers    what the replica writes in directories of the host that have overlays of
//                         their own (layered_root.h); `changes` has the rest
//   <boot disk>/own-places  paths at which the machine has something else than the host
//   <boot disk>/live      directories of the machine that this host watches: "%2Ftmp%2Freports"
//
// The host's root file system is the lower layer. Its other file systems are mounted read-only,
// without the state directory if it is on one of them. One in which the machine has something for
// itself, as a /var with the machine's /var/tmp in it, gets an overlay of its own. If the kernel
// refuses that overlay, the machine sees the file system read-only, with its own places in it.
// Directories that a new machine has empty (kEmptyDirectories), and state directories, are hidden:
// there, the replica sees only what its command line and its environment name, read-only, and the
// repository (.git) of a program that it runs. Inside these, state directories stay hidden, and no
// link there leads to what closed_files.h keeps from machines. Volumes come last, and cover what is
// at their places.

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/files.h"
#include "engine/ports.h"
#include "host/launcher/protocol.h"
#include "host/machine/closed_files.h"
#include "host/machine/host_tree.h"

namespace caip::host {

inline constexpr char kHostNameFile[] = "/etc/hostname";

/// What a machine sees of the host. The machine of an image sees only what the launch names.
struct HostView {
  std::vector<HostMount> mounts;
  RootParts parts;
};

/// The files of machines whose boot disks are below one state directory. `outer`: the state
/// directories of the user, if that one belongs to the run of a scenario (<outer>/scenarios, or in
/// memory); machines see none of them.
class MachineFiles {
 public:
  explicit MachineFiles(Path state_directory, const std::vector<Path>& outer = {})
      : state_(std::move(state_directory)),
        states_(HiddenStates(state_, outer)),
        empty_(EmptyDirectoriesOfHost()) {}

  /// The file of this host that a machine with that boot disk sees at `path`, if the replica has
  /// written it.
  Path OnHost(const Path& boot_disk, const std::string& path) const;

  /// Completes a boot disk, new or kept, with the directories that the launch asks for.
  Result<HostView> Prepare(const Path& boot_disk, const engine::ReplicaLaunch& launch) const;

  /// Adds the root and its mounts to the machine. `host`: from Prepare.
  void AddTo(launcher::Machine& machine, const Path& boot_disk, const HostView& host,
             const engine::ReplicaLaunch& launch) const;

 private:
  /// The paths that a launch names, and the path of each file on the host without links. The map
  /// is sorted, so that a directory comes before its files.
  using NamedFiles = std::map<std::string, std::string>;

  bool IsOfState(const std::string& path) const;
  bool IsHidden(const std::string& path, const engine::ReplicaLaunch& launch) const;
  Status PrepareLayers(const Path& boot_disk, const engine::ReplicaLaunch& launch,
                       bool is_kept) const;
  Status PrepareForUser(const Path& boot_disk, const engine::ReplicaLaunch& launch) const;
  std::vector<std::string> OwnPlaces(const engine::ReplicaLaunch& launch) const;
  OwnFiles OwnFilesOf(const Path& boot_disk, const engine::ReplicaLaunch& launch) const;
  RootParts PartsOf(const Path& boot_disk, const std::vector<HostMount>& mounts,
                    const engine::ReplicaLaunch& launch) const;
  Status PrepareImage(const Path& boot_disk, const engine::ReplicaLaunch& launch) const;
  void AddImageTo(launcher::Machine& machine, const Path& boot_disk,
                  const std::vector<HostMount>& mounts, const engine::ReplicaLaunch& launch) const;
  // The directories that a machine has empty, and those that the host does not have.
  void AddPlacesOfUser(const Path& boot_disk, const engine::ReplicaLaunch& launch,
                       std::vector<launcher::MachineMount>& places) const;
  void AddSharedMounts(const std::vector<HostMount>& mounts, const Path& boot_disk,
                       const engine::ReplicaLaunch& launch, const RootParts& parts,
                       std::vector<launcher::MachineMount>& out) const;
  void AddMetrics(launcher::Machine& machine, const Path& boot_disk,
                  const engine::ReplicaLaunch& launch) const;
  void AddNamedAndVolumes(launcher::Machine& machine, const Path& boot_disk,
                          const engine::ReplicaLaunch& launch,
                          const std::vector<HostMount>& mounts) const;
  NamedFiles NamedFilesOf(const engine::ReplicaLaunch& launch,
                          const std::vector<HostMount>& mounts) const;
  void AddNamed(const NamedFiles& files, const std::vector<HostMount>& mounts,
                launcher::Machine& machine) const;

  void HideStates(const std::string& directory, const std::string& shown,
                  const std::vector<HostMount>& mounts,
                  std::vector<launcher::MachineMount>& out) const;

  Path state_;
  std::vector<Path> states_;  // what is hidden: the state directories that are in no other one
  std::vector<EmptyDirectory> empty_;
};

/// The mounts that every machine has, with or without files of its own: /proc and /sys. The host's
/// settings there are read-only.
std::vector<launcher::MachineMount> BaseMounts();

}  // namespace caip::host
