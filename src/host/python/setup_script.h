#pragma once
// Reads a setup.py without Python.

#include <string_view>

namespace caip::host {

/// True if a setup.py with this text does nothing but call setuptools' or distutils' setup() with
/// constants: texts, numbers, lists and names that it has given to them. It may find packages by
/// their names. What it builds does then not depend on the bytes of the sources. False for all
/// else, such as a file that it opens, a condition, and a command of its own.
bool IsPlainSetup(std::string_view text);

/// The same for the installation of a source distribution that exists. setup() may also have
/// arguments that say what is installed where, and the script may read files that it names and that
/// are not Python sources: `long_description=open('README.md').read()`.
bool InstallsWithoutReadingSources(std::string_view text);

}  // namespace caip::host
