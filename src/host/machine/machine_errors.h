#pragma once
// The texts of errors about limits of replicas, and about entering them.

#include <filesystem>
#include <string_view>

#include "base/result.h"

namespace caip::host::errors {

Error NoDiskLimits(std::string_view why);
Error NoControlGroups(const std::filesystem::path& root);
Error CannotJoinGroup(int error);
/// `task` is the replica's name in the log.
Error ReplicaNotHere(std::string_view task);
Error ReplicaOfAnotherUser(std::string_view task);
Error CannotEnterReplica(int error);
/// Of the shell that the caller has not named.
Error CannotRunShell(int error);

}  // namespace caip::host::errors
