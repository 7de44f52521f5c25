#pragma once
// The metadata of a machine as a tree, and its renderings: values, listings, JSON, plain text.

#include <string>
#include <string_view>
#include <vector>

#include "base/json_fwd.h"
#include "fakes/metadata/machine.h"

namespace caip::metadata {

/// A value or a directory. Names have dashes in listings and paths, and lowerCamelCase in JSON,
/// unless a user chose them.
struct Node {
  enum class Kind {
    kText,       // one value
    kNumber,     // a whole number, without quotes in JSON
    kLines,      // several values, one per line
    kDirectory,  // of named nodes
    kIndexed,    // a directory of "0/", "1/", ...: a list in JSON
    kOnDemand,   // only listed; created for each request ("token", "identity")
  };
  std::string name;
  Kind kind = Kind::kText;
  std::string text = {};
  std::vector<std::string> lines = {};
  std::vector<Node> children = {};
  bool json_by_default = false;  // a list that is JSON unless alt=text
  bool own_name = false;         // a user chose the name: unchanged in JSON

  bool IsDirectory() const { return kind == Kind::kDirectory || kind == Kind::kIndexed; }
};

/// The tree below /computeMetadata/v1/.
Node BuildTree(const Machine& machine);

/// Finds the node at a path such as "instance/disks/0"; nullptr if there is none. Segments are
/// decoded.
const Node* FindNode(const Node& root, const std::vector<std::string>& segments);

/// Renders the names: "cpu-platform\ndisks/\n".
std::string ListingText(const Node& directory);
/// Renders the names: ["cpu-platform","disks/"].
Json ListingJson(const Node& directory);
/// Renders the value as text.
std::string ValueText(const Node& leaf);
/// Renders the value, or the whole directory.
Json ToJson(const Node& node);
/// Renders one line per value: "disks/0/mode READ_WRITE".
std::string RecursiveText(const Node& directory);

}  // namespace caip::metadata
