#pragma once
// Maps container images to commands of this host, or to archives that have them.

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "run/program.h"

namespace caip::host {

/// By URI with or without a tag: the local command that replaces the image's entrypoint, or one
/// word that names a file or directory which has the image ("oci:/home/me/image.tar"), and perhaps
/// one of several images there ("oci:/home/me/layout:v2").
using ImageMap = std::map<std::string, std::vector<std::string>>;

/// The entry of `uri`, else that of the image without its tag; nullptr if neither is mapped.
const std::vector<std::string>* FindImage(const ImageMap& images, const std::string& uri);

/// The word with which the place of an image begins: "oci:", "oci-archive:" or "docker-archive:";
/// "" if the text is not such a place.
std::string_view LocationWord(std::string_view text);

/// What an entry names after the word of LocationWord; nullopt: it is a command.
std::optional<std::string> ImageLocation(const std::vector<std::string>& entry);

/// Adds the mappings of `kept` to those of flags and configuration, which win: a mapping of an
/// image without a tag, too, wins over a kept one with a tag.
void AddKeptMappings(const ImageMap& kept, ImageMap& map);

using BuiltInCommand =
    std::function<Result<std::optional<std::vector<std::string>>>(const std::string& uri)>;

struct ImageRules {
  ImageMap map;
  /// Mappings that may change while the launcher runs, for images that `map` does not have. Unset:
  /// there are none.
  std::function<Result<ImageMap>()> kept = {};
  /// The command for an image that caip replaces itself, unless it is mapped; nullopt: it is none.
  BuiltInCommand built_in = {};
  /// Why the image is not on this host, or not where it is mapped to. Unset: an image is looked for
  /// when its job starts.
  std::function<Status(const std::string& uri, const std::string& source)> look_up = {};
};

/// Returns an image with the command of this host that replaces it, or with the place that it is
/// mapped to, and other programs unchanged. An error is that of the look-up.
Result<run::Program> ResolveImage(const ImageRules& rules, const run::Program& program);

}  // namespace caip::host
