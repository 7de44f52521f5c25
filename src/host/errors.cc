#include "host/errors.h"

#include <cstring>

#include "base/quoting.h"
#include "base/text.h"
#include "host/store/state_directory.h"

namespace caip::host::errors {
namespace {

std::string Remedy() { return " Name another with --state or $CAIP_STATE."; }

std::string Number(int64_t value) { return std::to_string(value); }

}  // namespace

Error StateNotWritable(const Path& path, const Error& cause) {
  return {cause.code == Code::kResourceExhausted ? cause.code : Code::kPermissionDenied,
          "The state directory " + Quoted(path.string()) + " cannot be written: " + cause.message +
              "." + Remedy()};
}

Error StateNoDirectory(const Path& path) {
  return {Code::kPermissionDenied,
          "The state directory " + Quoted(path.string()) + " is not a directory." + Remedy()};
}

Error StateOnNetwork(const Path& path, std::string_view file_system) {
  return {Code::kFailedPrecondition,
          "The state directory " + Quoted(path.string()) + " is on a network file system (" +
              std::string(file_system) +
              "). Two hosts could damage its databases. It must be on a disk of this host." +
              Remedy()};
}

Error StateOfAnotherUser(const Path& path, uid_t owner, uid_t self) {
  return {Code::kPermissionDenied, "The state directory " + Quoted(path.string()) +
                                       " belongs to user " + Number(owner) + ", but caip runs as " +
                                       Number(self) + "." + Remedy()};
}

Error StateOpenToOthers(const Path& path, int error) {
  return {Code::kPermissionDenied,
          "Other users may use the state directory " + Quoted(path.string()) +
              ", and caip cannot close it: " + std::strerror(error) + "." + Remedy()};
}

Error StateWithForeignEntry(const Path& path, const Path& entry) {
  return {Code::kPermissionDenied,
          Quoted(path.string()) + " is open to other users, and " +
              Quoted(entry.filename().string()) +
              " in it is not from caip, which closes only directories of its own." + Remedy()};
}

Error StateEntryOfAnotherUser(const Path& entry, uid_t owner) {
  return {Code::kPermissionDenied, "Other users could write into the state directory, and " +
                                       Quoted(entry.string()) + " belongs to user " +
                                       Number(owner) +
                                       ". Remove it, or check it and make it yours." + Remedy()};
}

Error StateEntryWritable(const Path& entry) {
  return {Code::kPermissionDenied, "Other users could write into the state directory and to " +
                                       Quoted(entry.string()) +
                                       ". Check it, and close it with `chmod 600`." + Remedy()};
}

Error StateTaken(const Path& path, const std::optional<StateOwner>& owner) {
  std::string who = "another caip";
  if (owner && owner->pid != 0) {
    who += " (process " + Number(owner->pid) + ", version " + owner->version + ", since " +
           owner->started_at + (owner->url.empty() ? "" : ", serving " + owner->url) + ")";
  }
  return {Code::kAborted, "The state directory " + Quoted(path.string()) + " is in use by " + who +
                              ". Stop it with `caip stop`, or use it." + Remedy()};
}

Error JobStoreFailed(Code code, const Path& file, std::string_view why) {
  return {code, "The job store " + Quoted(file.string()) + " cannot be used: " + std::string(why) +
                    (code == Code::kDataLoss ? ". Move the file away to start with an empty store."
                                             : ".")};
}

Error JobStoreTooNew(const Path& file, int64_t version) {
  return {Code::kDataLoss, "The job store " + Quoted(file.string()) +
                               " was written by a newer caip (schema " + Number(version) +
                               "). Use that one, or another state directory."};
}

Error JobRecordBroken(const Path& file, std::string_view job, const Error& cause) {
  return {Code::kDataLoss, "The job store " + Quoted(file.string()) + " has a broken record, " +
                               std::string(job) + ": " + cause.message};
}

Error JobRecordExists(std::string_view project, std::string_view job_id) {
  return {Code::kAlreadyExists,
          "Project " + Quoted(project) + " already has a job " + Quoted(job_id) + "."};
}

Error JobRecordMissing(std::string_view project, std::string_view job_id) {
  return {Code::kNotFound, "Project " + Quoted(project) + " has no job " + Quoted(job_id) + "."};
}

Error StoredJobMalformed(std::string_view member) {
  return {Code::kDataLoss, std::string(member) + " is missing or malformed"};
}

Error CompanionMissing(std::string_view name) {
  return {Code::kNotFound, "The " + std::string(name) +
                               " emulator of the Cloud SDK is not on this host; replicas start "
                               "without it. Install it (gcloud components install, or the package "
                               "google-cloud-cli-" +
                               std::string(name) +
                               "-emulator), or name the SDK's directory in the setting cloud_sdk."};
}

std::string CompanionEnded(std::string_view name, const Path& log, std::string_view log_end) {
  return "The " + std::string(name) + " emulator ended before it served; replicas start without " +
         "it. " + (log_end.empty() ? "" : "Its last output: " + std::string(log_end) + " ") +
         "Its log is " + log.string() + ".";
}

std::string CompanionSilent(std::string_view name, const Path& log,
                            std::chrono::milliseconds patience) {
  return "The " + std::string(name) + " emulator did not serve within " +
         std::to_string(patience.count() / 1000) + " s and was ended; replicas start without it. " +
         "Its log is " + log.string() + ".";
}

Error NoLoopbackBlock(int tries) {
  return {Code::kResourceExhausted,
          "No loopback addresses with a free port 2222 were found in " + Number(tries) +
              " tries. Does a program listen on 0.0.0.0:2222? Stop it, or start caip with "
              "--addressing=ports."};
}

std::string PortsInstead() {
  return "A program of this host listens on port 2222 of all addresses, so the replicas get ports "
         "of localhost instead of addresses with port 2222. `ss -ltnp 'sport = :2222'` names the "
         "program. Stop it, or start caip with --addressing=ports.";
}

Error NoFreePort(int tries) {
  return {Code::kResourceExhausted,
          "No free port of localhost was found in " + Number(tries) + " tries."};
}

std::string MetricFileIsNone(const Path& file, std::string_view what) {
  return Quoted(file.string()) + ", where the trial's metric is to be written, is " +
         std::string(what) + ". Nothing is read from it.";
}

std::string EventFileBroken(std::string_view name) {
  return "The event file " + Quoted(name) +
         " is broken: a record's length does not match its checksum. The rest is not read.";
}

std::string EventRecordBroken(std::string_view name) {
  return "The event file " + Quoted(name) +
         " has records that do not match their checksums or are not events. They are skipped.";
}

std::string MetricsUnwatched() {
  return "The kernel watches no more directories (fs.inotify.max_user_watches): some reports of "
         "this trial are read only when it ends.";
}

std::string MetricsUnread() {
  return "Some reports of this trial were not read before it ended. Its event files are larger "
         "than the emulator can read in time, or the emulator has no free file descriptor.";
}

std::string MetricFilesOutOfReach() {
  return "The launcher keeps boot disks where caip cannot read them. The trial's metric file does "
         "not count; TensorFlow event files below its job directory do.";
}

std::string OtherTagsOnly(std::string_view tag, const std::set<std::string>& others) {
  return "The trial has reported " + Join({others.begin(), others.end()}, ", ") + ", but no " +
         Quoted(tag) +
         ". Name one of them as the metric of the job (hyperparameterMetricTag, or metricId of "
         "Vertex AI), or report " +
         Quoted(tag) + ".";
}

Error ToolWithoutCommand() {
  return {Code::kInvalidArgument, "cannot run a tool: its command is empty"};
}

Error ToolNotRun(std::string_view program, std::string_view why) {
  return {Code::kInternal, "cannot run " + Quoted(program) + ": " + std::string(why)};
}

Error MountMissing(std::string_view directory, std::string_view shown) {
  const std::string place(shown);
  if (directory.empty()) {
    return {Code::kFailedPrecondition,
            "No directory of this host stands for " + place +
                " any more. Map the export below nfs_exports of config.yaml again."};
  }
  return {Code::kFailedPrecondition, "The directory " + Quoted(directory) +
                                         " does not exist. The replica needs it at " + place +
                                         ". Make the directory, or map the export to another one."};
}

std::string PathsReplaced(std::string_view shown, std::string_view buckets) {
  const std::string place(shown);
  return "The replica has no file system of its own, so " + place +
         " does not exist. Paths below it in the command line and the environment are replaced by "
         "paths below " +
         std::string(buckets) +
         ". A path that the program makes itself is not found. Let replicas be machines "
         "(--isolation machine).";
}

Error OrphanNotKilled(pid_t process) {
  return {Code::kDeadlineExceeded, "process " + Number(process) +
                                       ", a replica left by an earlier emulator, cannot be killed; "
                                       "it may be in an uninterruptible sleep"};
}

Error CommandEmpty() {
  return {Code::kInvalidArgument,
          "cannot start the replica: its command is empty. Give the image or the job a command"};
}

Error ArgumentWithNul(std::string_view program) {
  return {Code::kInvalidArgument,
          "cannot start " + Quoted(program) + ": an argument contains a NUL character"};
}

Error VariableNotLegal(std::string_view program, std::string_view name) {
  return {Code::kInvalidArgument, "cannot start " + Quoted(program) + ": environment variable " +
                                      Quoted(name) +
                                      " has an invalid name, or its value contains a NUL"};
}

Error LauncherLacks(std::string_view launcher, std::string_view ability) {
  return {Code::kUnimplemented, "The launcher " + Quoted(launcher) + " cannot " +
                                    std::string(ability) + ", which this scenario needs."};
}

Error LauncherLacksMachines(std::string_view launcher) {
  return {Code::kFailedPrecondition,
          "The launcher " + Quoted(launcher) +
              " cannot give replicas machines of their own. Run with `--isolation process`."};
}

Error NoMachine(std::string_view why) {
  return {Code::kFailedPrecondition,
          "Replicas cannot have machines of their own on this host (" + std::string(why) +
              "). Run them with `--isolation process`; `caip doctor` shows what that costs."};
}

Error NoPreloadInImages() {
  return {Code::kFailedPrecondition,
          "The programs of an image are watched by seccomp notification only, which this host does "
          "not have. Replace the image by a command of this host (--map-image)."};
}

Error EndpointAddressNotValid(std::string_view address) {
  return {Code::kInvalidArgument, Quoted(address) +
                                      " is not an IPv4 address, so no server can listen there in a "
                                      "network of replicas."};
}

Error CannotFindPort(int error_number) {
  return SystemError("cannot find a free port", error_number);
}

Error CannotShowLayer(const Path& link, int error_number) {
  return SystemError("cannot link a layer of the image to " + Quoted(link.string()), error_number);
}

Error CannotHideDirectory(const Path& directory, int error_number) {
  return SystemError("cannot set an attribute of " + Quoted(directory.string()) +
                         ", which hides the host's directory from a machine",
                     error_number);
}

Error CannotMakeMemoryFile(int error_number) {
  return SystemError("cannot make a memory file", error_number);
}

Error CannotWriteMemoryFile(int error_number) {
  return SystemError("cannot write a memory file", error_number);
}

Error NoProcessFiles() {
  return {
      Code::kFailedPrecondition,
      "/proc is hidden, so that caip does not find its own files and the processes of replicas. "
      "Mount it (`mount -t proc proc /proc`)."};
}

Error CannotReachLauncher(int error_number) {
  Error unreachable = SystemError("cannot reach caip-launcher", error_number);
  if (error_number == EPIPE || error_number == ECONNRESET) unreachable.code = Code::kUnavailable;
  return unreachable;
}

Error CannotMakeSocketFor(std::string_view program, int error_number) {
  return SystemError("cannot make a socket for " + Quoted(program), error_number);
}

Error CannotForkFor(std::string_view program, int error_number) {
  return SystemError("cannot make a process for " + Quoted(program), error_number);
}

Error CannotEnter(std::string_view directory, int error_number) {
  return SystemError("cannot enter the directory " + Quoted(directory), error_number);
}

Error CannotWatchCalls(std::string_view program, int error_number) {
  return SystemError("cannot watch the calls of " + Quoted(program) +
                         " (seccomp user notification, Linux 5.19 or later)",
                     error_number);
}

Error CannotMakeWatchSocket(int error_number) {
  return SystemError("cannot make the socket for watching a replica", error_number);
}

Error CannotMakeEventfd(int error_number) {
  return SystemError("cannot make an eventfd", error_number);
}

Error CannotStartThread(int error_number) {
  Error cannot = SystemError("cannot start a thread", error_number);
  cannot.code = Code::kUnavailable;
  return cannot;
}

Error CannotOpenReplica(int error_number) {
  return SystemError("cannot open a replica's process", error_number);
}

Error CannotBorrowDescriptor(int error_number) {
  return SystemError("cannot borrow a replica's descriptor", error_number);
}

Error CannotLookAtPipe(int error_number) {
  return SystemError("cannot look at a pipe", error_number);
}

Error CannotLookAtLock(std::string_view file, int error_number) {
  return SystemError("cannot look at the lock of " + Quoted(file), error_number);
}

}  // namespace caip::host::errors
