#pragma once
// The files by which a replica's `nvidia-smi` and `libnvidia-ml.so.1` know its fake GPUs. Both run
// on machines and in images, so this header includes nothing of caip.
//
// A replica finds the program, the library and a file for each of its GPUs in one directory. Each
// file (DescribeSmiGpu) is the same for all replicas, so that nothing is written when GPUs are
// lent.

namespace caip::host::smi {

/// On a machine: the program, the library and the files. /dev is the one directory that each
/// machine has for itself.
inline constexpr char kDirectory[] = "/dev/caip-gpus";
inline constexpr char kProgram[] = "nvidia-smi";
inline constexpr char kLibrary[] = "libnvidia-ml.so.1";
inline constexpr char kFileBegin[] = "gpu";  // a number follows

/// The driver that both report. NVIDIA released none of this version.
inline constexpr char kDriverVersion[] = "535.0.0";

}  // namespace caip::host::smi
