#include "host/machine/machine_errors.h"

#include <cstring>
#include <string>

#include "base/errors.h"
#include "base/quoting.h"

namespace caip::host::errors {

Error NoDiskLimits(std::string_view why) {
  return {Code::kFailedPrecondition,
          "The sizes of boot disks cannot be limited on this host, because its kernel cannot hold "
          "replicas at their writes (" +
              std::string(why) + "). Run without --disk-limits."};
}

Error ReplicaNotHere(std::string_view task) {
  return {Code::kNotFound, "The replica " + Quoted(task) +
                               " has ended, or it does not run on this host. Run the command again "
                               "where its emulator runs."};
}

Error ReplicaOfAnotherUser(std::string_view task) {
  return {Code::kPermissionDenied,
          "The replica " + Quoted(task) +
              " belongs to another user. Only the user who started the emulator and root may run "
              "programs in it."};
}

Error CannotEnterReplica(int error) {
  return {Code::kUnavailable,
          "The namespaces of the replica cannot be entered: " + std::string(std::strerror(error))};
}

Error CannotRunShell(int error) { return SystemError("cannot run 'bash' or 'sh'", error); }

Error NoControlGroups(const std::filesystem::path& root) {
  return {
      Code::kFailedPrecondition,
      "this user can make no control groups for memory and CPUs below " + Quoted(root.string())};
}

Error CannotJoinGroup(int error) {
  return {Code::kFailedPrecondition,
          "processes cannot be moved into a control group: " + std::string(std::strerror(error))};
}

}  // namespace caip::host::errors
