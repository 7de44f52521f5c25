#pragma once
// Reads a setup.py without Python.

#include <string_view>

namespace caip::host {

/// True if a setup.py with this text does nothing but call setuptools' or distutils' setup() with
/// values that depend on three things only: the script itself, the names of packages
/// (find_packages()), and files that the script reads. Each of these files lies beside the script,
/// has a constant name, and is not a Python source. What the script builds does then not depend on
/// the bytes of files in directories. False for all else: the environment, the time, other
/// programs, branches, and a command of its own.
bool IsPlainSetup(std::string_view text);

/// The same for the installation of a source distribution that exists. setup() may also have
/// arguments that say what is installed where, and the files that the script reads may lie in
/// directories of the distribution.
bool InstallsWithoutReadingSources(std::string_view text);

}  // namespace caip::host
