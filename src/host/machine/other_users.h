#pragma once
// Users other than the one who runs caip, for the programs of images.

#include <cstdint>

namespace caip::host {

/// Whether programs that caip starts on a machine can become this user and this group. Only root
/// may, and in a user namespace (man 7 user_namespaces) only those that have an ID there. Of other
/// users, caip makes a user namespace for the program (launcher/user_namespace.h).
bool MayBecome(uint32_t user, uint32_t group);

}  // namespace caip::host
