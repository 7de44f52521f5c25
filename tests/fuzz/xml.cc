// A tree of the XML parser is unchanged after it is written and parsed again.

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "fakes/gcs/xml/xml_text.h"

namespace {

using namespace caip;

int DepthOf(const gcs::XmlElement& element) {
  int deepest = 0;
  for (const gcs::XmlElement& child : element.children) {
    deepest = std::max(deepest, DepthOf(child));
  }
  return deepest + 1;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto tree = gcs::ParseXml({reinterpret_cast<const char*>(data), size});
  if (!tree.ok()) {
    if (tree.error().code != Code::kInvalidArgument || tree.error().message.empty()) std::abort();
    return 0;
  }
  if (DepthOf(*tree) > gcs::kXmlDepthMax) std::abort();
  const std::string written = gcs::XmlDocument(*tree);
  const auto again = gcs::ParseXml(written);
  if (!again.ok() || gcs::XmlDocument(*again) != written) std::abort();
  return 0;
}
