#pragma once
// What jobs report about their container images.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace caip::host::errors {

/// kFailedPrecondition: no image of that name is on this host.
Error ImageNotFound(std::string_view uri);
/// kFailedPrecondition: replicas are processes of this host.
Error ImageNeedsMachine(std::string_view uri);
/// The image was found, but it cannot run.
Error ImageUnusable(std::string_view uri, const Error& cause);
/// A line for the log of a job that starts.
std::string RunsImage(std::string_view uri, std::string_view digest);
/// A warning: the replica has GPUs, its image no driver, and this host no files of it.
std::string DriverOfGpusMissing(std::string_view task);
/// A warning: the image names root with another group than root's.
std::string ImageRunsInGroupOfRoot(uint32_t group);
/// No engine of this host has the image.
Error NotInEngines();
/// `last` is what the engine printed.
Error EngineCannotSave(std::string_view engine, std::string_view last);
// Registries at loopback addresses. `registry` is "127.0.0.1:5000".
Error RegistryNotReachable(std::string_view registry, const Error& cause);
/// `place` is "project/image/manifests/v1".
Error RegistryAnswered(std::string_view registry, int status, std::string_view place);
Error RegistrySentAnotherManifest(std::string_view registry, std::string_view expected,
                                  std::string_view digest);
Error RegistrySentTooMuch(std::string_view registry, std::string_view digest, uint64_t size);
/// The place that an image is mapped to has another image than the name's digest.
Error MappedImageDiffers(std::string_view place, std::string_view expected,
                         std::string_view digest);
/// The place that an image is mapped to does not exist, or cannot be read.
Error MappedPlaceUnreadable(std::string_view place, int error_number);
/// The file of `caip images map` is not one that it has written.
Error MappingsDamaged(std::string_view file);
Error UserNotInImage(std::string_view name);
Error GroupNotInImage(std::string_view name);
// Of the IDs of users and groups that podman and docker refuse, too.
Error UserIdTooLarge(std::string_view name, std::string_view id);
Error GroupIdTooLarge(std::string_view name, std::string_view id);
/// `count` is without the main group of the user.
Error TooManyGroups(std::string_view user, size_t count);
Error ImageWithoutLayers();
// WORKDIR of an image.
Error WorkingDirectoryIsFile(std::string_view directory);
Error WorkingDirectoryHasTooManyLinks(std::string_view directory);
Error WorkingDirectoryTooLong(size_t bytes);

// Machines of images that could not be made.
/// The image has something at `place`, or above it, that keeps the machine from its own file or
/// directory there.
Error ImageHasNoPlaceFor(std::string_view uri, std::string_view place, int error_number);
/// `why` is about the host.
Error ImageHasNoMachine(std::string_view uri, std::string_view why);

}  // namespace caip::host::errors
