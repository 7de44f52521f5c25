#include <algorithm>
#include <string>
#include <vector>

#include "base/text.h"
#include "emulator/app/settings/settings_table.h"

namespace caip::app {
namespace {

constexpr size_t kNoteColumn = 31;

}  // namespace

std::string SampleConfigFile() {
  std::string file;
  for (const Setting& setting : Settings()) {
    if (!setting.heading.empty()) {
      if (!file.empty()) file += '\n';
      for (const std::string& line : Split(setting.heading, '\n')) file += "# " + line + "\n";
    }
    const std::vector<std::string> lines = Split(setting.sample, '\n');
    std::string line = std::string(setting.key) + ":";
    if (!lines[0].empty()) line += " " + lines[0];
    if (!setting.note.empty()) {
      line.resize(std::max(line.size() + 2, kNoteColumn), ' ');
      line += "# " + std::string(setting.note);
    }
    file += line + "\n";
    for (size_t i = 1; i < lines.size(); ++i) file += "  " + lines[i] + "\n";
  }
  return file;
}

}  // namespace caip::app
