#pragma once
// A copy of this program in memory that no process can change. The init of a machine is a fork of
// the launcher, so /proc/1/exe of the machine leads to the launcher's program, out of the machine's
// own files. If it led to the file of the host, root of the machine could change its mode, and its
// contents when no launcher runs.

namespace caip::host::launcher {

/// Whether this process runs such a copy.
bool RunsSealedCopy();

/// Executes a sealed copy of this program with these arguments, and returns in it: then the process
/// has this name. It also returns where there can be no copy: the setting vm.memfd_noexec of the
/// kernel or the limit of the size of files may forbid it. Then nothing has changed.
void RunFromSealedCopy(const char* name, char* const* arguments, char* const* environment);

}  // namespace caip::host::launcher
