#include "fakes/algorithms/algorithm_files.h"

#include <string>

#include "base/hash.h"

namespace caip::algorithms {
namespace {

constexpr size_t kDigestLength = 16;
constexpr char kProgram[] = "train.py";
// Python puts the directory of a program on its path.
constexpr std::string_view kProgramText = "from caip_algorithms.__main__ import main\n\nmain()\n";

std::string DigestOfPackage() {
  std::string all(kProgramText);
  for (const PackageFile& file : PackageFiles()) {
    all.append(file.name).append(1, '\0').append(file.text).append(1, '\0');
  }
  return Sha256Hex(all).substr(0, kDigestLength);
}

}  // namespace

Result<Path> InstallPackage(const Path& state) {
  static const std::string* const digest = new std::string(DigestOfPackage());
  const Path directory = state / "algorithms" / *digest;
  const Path program = directory / kProgram;
  if (const auto present = ReadFile(program); present.ok() && *present == kProgramText) {
    return program;
  }
  RETURN_IF_ERROR(MakeDirectories(directory / "caip_algorithms"));
  for (const PackageFile& file : PackageFiles()) {
    RETURN_IF_ERROR(WriteFileDurably(directory / "caip_algorithms" / file.name, file.text));
  }
  RETURN_IF_ERROR(
      WriteFileDurably(program, kProgramText));  // last: its presence completes the rest
  return program;
}

}  // namespace caip::algorithms
