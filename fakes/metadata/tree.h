#pragma once
// The metadata of a machine as a tree, and its renderings: values, listings, JSON, plain text.

#include <string>
#include <string_view>
#include <vector>

#include "base/json_fwd.h"
#include "fakes/metadata/guest.h"

namespace caip::metadata {

/// A value or a directory. In listings and paths names are written with dashes; in JSON as
/// lowerCamelCase, unless they are the user's own.
struct Node {
  enum class Kind {
    kText,       // one value
    kNumber,     // a whole number: JSON has it without quotes
    kLines,      // several values, one a line
    kDirectory,  // of named nodes
    kIndexed,    // a directory of "0/", "1/", ...: a list in JSON
    kOnDemand,   // named in listings, made by whoever serves it ("token", "identity")
  };
  std::string name;
  Kind kind = Kind::kText;
  std::string text = {};
  std::vector<std::string> lines = {};
  std::vector<Node> children = {};
  bool json_by_default = false;  // a list that is shown as JSON unless text is asked for
  bool own_name = false;         // the user's: the same in JSON

  bool IsDirectory() const { return kind == Kind::kDirectory || kind == Kind::kIndexed; }
};

/// What stands below /computeMetadata/v1/.
Node TreeOf(const Guest& guest);

/// The node at "instance/disks/0"; nullptr where there is none. Segments are decoded.
const Node* FindNode(const Node& root, const std::vector<std::string>& segments);

/// "cpu-platform\ndisks/\n".
std::string ListingText(const Node& directory);
/// ["cpu-platform","disks/"].
Json ListingJson(const Node& directory);
/// The value as it is asked for by default or with alt=text.
std::string ValueText(const Node& leaf);
/// The value, or the whole directory.
Json ToJson(const Node& node);
/// One line a value: "disks/0/mode READ_WRITE".
std::string RecursiveText(const Node& directory);

}  // namespace caip::metadata
