#include "host/watch/other_host.h"

#include <cstdlib>
#include <iterator>
#include <string_view>

#include "host/watch/call_source.h"

namespace caip::host {

std::vector<std::string> OnHost(const std::string& name, std::vector<std::string> command) {
  const Path library = OwnPreloadLibrary();
  const char* setting = std::getenv("CAIP_INTERPOSITION");
  std::vector<std::string> words = {
      (library.parent_path() / "caip-other-host").string(),
      setting && std::string_view(setting) == "preload" ? "preload" : "any", library.string(),
      name};
  words.insert(words.end(), std::make_move_iterator(command.begin()),
               std::make_move_iterator(command.end()));
  return words;
}

}  // namespace caip::host
