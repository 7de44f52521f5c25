#pragma once
// A process that holds the lock of the state directory, and the socket to caip, for the inits of
// machines. Root of a machine may copy the descriptors of its init (man 2 pidfd_getfd). With the
// lock, it could give it back for all replicas. So the inits hold neither of both.

namespace caip::host::launcher {

/// Runs in its own process. Returns when the other ends of `control` have closed and all processes
/// that were entrusted to it are dead. The lock and the socket are those at the numbers of
/// protocol.h.
void RunLockKeeper(int control);

/// Lets the lock keeper at the other end of `control` wait for the end of this process, with which
/// all processes of its PID namespace end. False: there is no lock keeper, its socket is full, or
/// the kernel knows no pidfd (before Linux 5.3).
bool EntrustToLockKeeper(int control);

}  // namespace caip::host::launcher
