#pragma once
// Makes every text that a user can read in an error of the host's adapters. A maker is named after
// the failure and takes the facts.

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "base/files.h"
#include "base/result.h"

namespace caip::host {

struct StateOwner;

namespace errors {

// The state directory.
Error StateNotWritable(const Path& path, const Error& cause);
Error StateNoDirectory(const Path& path);
Error StateOnNetwork(const Path& path, std::string_view file_system);
Error StateOfAnotherUser(const Path& path, uid_t owner, uid_t self);
Error StateOpenToOthers(const Path& path, int error);
Error StateWithForeignEntry(const Path& path, const Path& entry);
/// An entry of a state directory that other users could write to.
Error StateEntryOfAnotherUser(const Path& entry, uid_t owner);
Error StateEntryWritable(const Path& entry);
Error StateTaken(const Path& path, const std::optional<StateOwner>& owner);

// Jobs on disk.
Error JobStoreFailed(Code code, const Path& file, std::string_view why);
Error JobStoreTooNew(const Path& file, int64_t version);
Error JobRecordBroken(const Path& file, std::string_view job, const Error& cause);
Error JobRecordExists(std::string_view project, std::string_view job_id);
Error JobRecordMissing(std::string_view project, std::string_view job_id);
/// `member` of a stored job is missing or malformed.
Error StoredJobMalformed(std::string_view member);

// Metrics: warnings for a trial's log.
std::string MetricFileIsNone(const Path& file, std::string_view what);
std::string EventFileBroken(std::string_view name);
std::string EventRecordBroken(std::string_view name);
std::string MetricsUnwatched();
/// The trial has ended before all its sources were read.
std::string MetricsUnread();
std::string MetricFilesOutOfReach();
std::string OtherTagsOnly(std::string_view tag, const std::set<std::string>& others);

// Emulators of the Cloud SDK.
Error CompanionMissing(std::string_view name);
std::string CompanionEnded(std::string_view name, const Path& log, std::string_view log_end);
std::string CompanionSilent(std::string_view name, const Path& log,
                            std::chrono::milliseconds patience);

// Addresses.
Error NoLoopbackBlock(int tries);
Error NoFreePort(int tries);
/// The warning about a job whose replicas get ports instead of addresses.
std::string PortsInstead();

// Tools that caip runs for itself.
Error ToolWithoutCommand();
Error ToolNotRun(std::string_view program, std::string_view why);

// Starts and ends of replicas.
Error OrphanNotKilled(pid_t process);
Error CommandEmpty();
Error ArgumentWithNul(std::string_view program);
Error VariableNotLegal(std::string_view program, std::string_view name);

/// `directory`: what stands for it; "" nothing.
Error MountMissing(std::string_view directory, std::string_view shown);
/// The warning about paths below `shown` in words that were changed.
std::string PathsReplaced(std::string_view shown, std::string_view buckets);

// Abilities and machines.
/// kUnimplemented. `ability`: an ability that a scenario needs: "stop a replica in mid-step".
Error LauncherLacks(std::string_view launcher, std::string_view ability);
Error LauncherLacksMachines(std::string_view launcher);
Error NoMachine(std::string_view why);
Error NoPreloadInImages();
Error EndpointAddressNotValid(std::string_view address);

// A system call failed.
Error CannotFindPort(int error_number);
Error CannotMakeMemoryFile(int error_number);
Error CannotShowLayer(const Path& link, int error_number);
Error CannotHideDirectory(const Path& directory, int error_number);
Error CannotWriteMemoryFile(int error_number);
/// kUnavailable: the launcher has died.
Error CannotReachLauncher(int error_number);
/// kFailedPrecondition: this process sees no /proc.
Error NoProcessFiles();
Error CannotMakeSocketFor(std::string_view program, int error_number);
Error CannotForkFor(std::string_view program, int error_number);
Error CannotEnter(std::string_view directory, int error_number);
Error CannotWatchCalls(std::string_view program, int error_number);
Error CannotMakeWatchSocket(int error_number);
Error CannotMakeEventfd(int error_number);
/// kUnavailable: it may pass.
Error CannotStartThread(int error_number);
Error CannotOpenReplica(int error_number);
Error CannotBorrowDescriptor(int error_number);
Error CannotLookAtPipe(int error_number);
Error CannotLookAtLock(std::string_view file, int error_number);

}  // namespace errors

}  // namespace caip::host
