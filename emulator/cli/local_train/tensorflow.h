#pragma once
// Which TensorFlow a Python has: it decides what the primary of a local cluster is called.

#include <string>

namespace caip::cli {

/// The primary's name and what to tell the user about it.
struct PrimaryName {
  std::string name = "chief";  // "master" with TensorFlow 1.x
  std::string warning;         // "" when TensorFlow was found
};

/// Asks `python`. TensorFlow is imported in a throw-away interpreter, and only once for each
/// installed copy: the version is kept in the user's cache directory.
PrimaryName PrimaryNameFor(const std::string& python);

}  // namespace caip::cli
