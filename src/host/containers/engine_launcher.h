#pragma once
// Starts replicas with images in containers of podman or docker, and all others as its inner
// launcher does.

#include <memory>

#include "base/files.h"
#include "engine/ports.h"
#include "host/containers/container_engine.h"
#include "host/devices/gpu_driver.h"

namespace caip::host {

/// A container's replica is the process of `podman run` or `docker run`: its output, its exit code
/// and the signals that it gets are the container's. When it has ended, and before on_exit, the
/// container is removed. Files below `state` that its environment names are in the container, and
/// the boot disk, at the same paths, and the devices that the replica was lent, with the driver of
/// GPUs. Exports do not show `state` and `outer_states` (MachineFiles). `disks` belongs to
/// `processes`. Removes the containers that an earlier emulator left, now and at its end. The Error
/// says why one of them is left: a replica of the same name could not start. A container that is
/// left later is a warning in the job's log.
Result<std::unique_ptr<engine::Launcher>> MakeEngineLauncher(
    std::unique_ptr<engine::Launcher> processes, engine::LocalDisks& disks, const Path& state,
    ContainerEngine engine, const Clock& clock, engine::LogSink& log, DriverPlaces gpu_driver = {},
    const std::vector<Path>& outer_states = {});

}  // namespace caip::host
