#include "host/devices/smi/smi_answers.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

namespace caip::host::smi {
namespace {

constexpr int kInvalidArgument = 2;
constexpr int kNotFound = 6;
// Of a file, between tabs.
constexpr size_t kPartsOfGpu = 7;
constexpr size_t kPartsOfInstance = 4;
constexpr char kSmiHelp[] =
    "nvidia-smi of caip: lists the fake GPUs that a replica was lent.\n"
    "\n"
    "  nvidia-smi                        prints a table of the GPUs\n"
    "  nvidia-smi -L, --list-gpus        lists GPUs and MIG instances with their UUIDs\n"
    "  nvidia-smi --query-gpu=FIELD,...  prints fields of each GPU, with\n"
    "             --format=csv[,noheader][,nounits]\n"
    "  -i, --id=GPU                      only this GPU: its number, UUID or PCI bus ID\n"
    "\n"
    "Fields: ";

std::vector<std::string> SplitWords(std::string_view text, char separator) {
  std::vector<std::string> parts;
  while (true) {
    const size_t end = text.find(separator);
    parts.emplace_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

// A field of --query-gpu: its names, its unit, and its value.
struct QueryField {
  const char* name;
  const char* other_name;
  const char* unit;
  std::string (*value)(const SmiGpu& gpu, size_t index, size_t count);
};

constexpr char kNotAvailable[] = "[N/A]";

// The driver reports none for a GPU in MIG mode.
std::string UtilizationOf(const SmiGpu& gpu, size_t, size_t) {
  return gpu.instances.empty() ? "0" : kNotAvailable;
}

const QueryField kQueryFields[] = {
    {"index", "", "", [](const SmiGpu&, size_t index, size_t) { return std::to_string(index); }},
    {"count", "", "", [](const SmiGpu&, size_t, size_t count) { return std::to_string(count); }},
    {"uuid", "gpu_uuid", "", [](const SmiGpu& gpu, size_t, size_t) { return gpu.uuid; }},
    {"name", "gpu_name", "", [](const SmiGpu& gpu, size_t, size_t) { return gpu.name; }},
    {"pci.bus_id", "gpu_bus_id", "", [](const SmiGpu& gpu, size_t, size_t) { return gpu.bus_id; }},
    {"memory.total", "", "MiB",
     [](const SmiGpu& gpu, size_t, size_t) { return std::to_string(gpu.memory_mib); }},
    {"memory.used", "", "MiB", [](const SmiGpu&, size_t, size_t) { return std::string("0"); }},
    {"memory.free", "", "MiB",
     [](const SmiGpu& gpu, size_t, size_t) { return std::to_string(gpu.memory_mib); }},
    {"utilization.gpu", "", "%", UtilizationOf},
    {"utilization.memory", "", "%", UtilizationOf},
    {"mig.mode.current", "", "",
     [](const SmiGpu& gpu, size_t, size_t) {
       return std::string(gpu.instances.empty() ? "Disabled" : "Enabled");
     }},
    {"driver_version", "", "",
     [](const SmiGpu&, size_t, size_t) { return std::string(kDriverVersion); }},
    {"compute_cap", "", "",
     [](const SmiGpu& gpu, size_t, size_t) { return gpu.compute_capability; }},
};

const QueryField* FindField(std::string_view name) {
  const auto is_named = [&](const QueryField& field) {
    return name == field.name || (name == field.other_name && !name.empty());
  };
  const auto found = std::find_if(std::begin(kQueryFields), std::end(kQueryFields), is_named);
  return found == std::end(kQueryFields) ? nullptr : found;
}

std::string FieldNames() {
  std::string names;
  for (const QueryField& field : kQueryFields)
    names += (names.empty() ? "" : ", ") + std::string(field.name);
  return names;
}

SmiAnswer RefuseWords(const std::string& text) {
  return {kInvalidArgument, "", "nvidia-smi: " + text};
}

struct SmiRequest {
  bool lists = false;
  bool helps = false;
  std::string fields;
  std::string format;
  std::string id;
};

// Fills the request. False for a word that is not supported.
bool ReadSmiWords(const std::vector<std::string>& words, SmiRequest& request,
                  std::string& unknown) {
  for (size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    const auto takes = [&](const std::string& flag, std::string& value) {
      if (!word.starts_with(flag + "=")) return false;
      value = word.substr(flag.size() + 1);
      return true;
    };
    if (word == "-L" || word == "--list-gpus") {
      request.lists = true;
    } else if (word == "-h" || word == "--help") {
      request.helps = true;
    } else if (word == "-i" && i + 1 < words.size()) {
      request.id = words[++i];
    } else if (!takes("--query-gpu", request.fields) && !takes("--format", request.format) &&
               !takes("--id", request.id)) {
      unknown = word;
      return false;
    }
  }
  return true;
}

bool IsChosen(const SmiGpu& gpu, size_t index, const std::string& id) {
  return id.empty() || id == std::to_string(index) || id == gpu.uuid || id == gpu.bus_id;
}

std::string ListSmiGpu(const SmiGpu& gpu, size_t index) {
  std::string lines =
      "GPU " + std::to_string(index) + ": " + gpu.name + " (UUID: " + gpu.uuid + ")\n";
  for (size_t i = 0; i < gpu.instances.size(); ++i) {
    char place[64];
    std::snprintf(place, sizeof place,
                  "  MIG %-12.20sDevice %2zu: (UUID: ", gpu.instances[i].profile.c_str(), i);
    lines += place + gpu.instances[i].uuid + ")\n";
  }
  return lines;
}

constexpr char kRule[] =
    "+-----------------------------------------------------------------------------+\n";

std::string TableLine(const char* index, const std::string& name, const std::string& memory) {
  char line[128];
  std::snprintf(line, sizeof line, "| %3.3s  %-45.45s %23.23s  |\n", index, name.c_str(),
                memory.c_str());
  return line;
}

std::string TableHead() {
  return std::string(kRule) + TableLine("", "NVIDIA-SMI of caip: these GPUs are fake.", "") +
         kRule + TableLine("GPU", "Name", "Memory-Usage") + kRule;
}

std::string TableRow(const SmiGpu& gpu, size_t index) {
  std::string lines = TableLine(std::to_string(index).c_str(), gpu.name,
                                "0MiB / " + std::to_string(gpu.memory_mib) + "MiB");
  for (const Instance& instance : gpu.instances) {
    lines += TableLine("", "  MIG " + instance.profile, "");
  }
  return lines;
}

struct CsvFormat {
  bool has_header = true;
  bool has_units = true;
};

// nullopt: the words are not those of a format.
std::optional<CsvFormat> ReadFormat(std::string_view text) {
  CsvFormat format;
  bool is_csv = false;
  for (const std::string& word : SplitWords(text, ',')) {
    if (word == "csv") {
      is_csv = true;
    } else if (word == "noheader") {
      format.has_header = false;
    } else if (word == "nounits") {
      format.has_units = false;
    } else {
      return std::nullopt;
    }
  }
  return is_csv ? std::optional(format) : std::nullopt;
}

std::string HeaderOf(const std::vector<const QueryField*>& fields) {
  std::string line;
  for (const QueryField* field : fields) {
    line += (line.empty() ? "" : ", ") + std::string(field->name);
    if (*field->unit) line += " [" + std::string(field->unit) + "]";
  }
  return line + "\n";
}

SmiAnswer QueryGpus(const SmiRequest& request, const std::vector<SmiGpu>& gpus) {
  const auto format = ReadFormat(request.format);
  if (!format) {
    return RefuseWords("'" + request.format +
                       "' is not a valid format. Use --format=csv, with ,noheader and ,nounits if "
                       "wanted.\n");
  }
  std::vector<const QueryField*> fields;
  for (const std::string& name : SplitWords(request.fields, ',')) {
    const size_t begin = std::min(name.find_first_not_of(' '), name.size());
    fields.push_back(FindField(std::string_view(name).substr(begin)));
    if (fields.back()) continue;
    return RefuseWords("Field \"" + name + "\" is not a field of fake GPUs. Use " + FieldNames() +
                       ".\n");
  }
  SmiAnswer answer;
  if (format->has_header) answer.out = HeaderOf(fields);
  for (size_t i = 0; i < gpus.size(); ++i) {
    if (!IsChosen(gpus[i], i, request.id)) continue;
    std::string line;
    for (const QueryField* field : fields) {
      const std::string value = field->value(gpus[i], i, gpus.size());
      line += (line.empty() ? "" : ", ") + value;
      if (*field->unit && format->has_units && value != kNotAvailable) {
        line += " " + std::string(field->unit);
      }
    }
    answer.out += line + "\n";
  }
  return answer;
}

}  // namespace

std::string DescribeSmiGpu(const SmiGpu& gpu) {
  std::string text = std::to_string(gpu.minor) + "\t" + gpu.uuid + "\t" + gpu.name + "\t" +
                     std::to_string(gpu.memory_mib) + "\t" + gpu.bus_id + "\t" +
                     gpu.compute_capability + "\t" + std::to_string(gpu.power_watts);
  for (const Instance& instance : gpu.instances) {
    text += "\t" + instance.profile + "\t" + instance.uuid + "\t" +
            std::to_string(instance.gpu_instance) + "\t" + std::to_string(instance.memory_mib);
  }
  return text + "\n";
}

std::optional<SmiGpu> ParseSmiGpu(std::string_view text) {
  const std::vector<std::string> parts = SplitWords(text.substr(0, text.find('\n')), '\t');
  if (parts.size() < kPartsOfGpu || (parts.size() - kPartsOfGpu) % kPartsOfInstance != 0) {
    return std::nullopt;
  }
  SmiGpu gpu{std::atoi(parts[0].c_str()), parts[1], parts[2], std::atoll(parts[3].c_str()),
             parts[4]};
  gpu.compute_capability = parts[5];
  gpu.power_watts = std::atoi(parts[6].c_str());
  for (size_t i = kPartsOfGpu; i < parts.size(); i += kPartsOfInstance) {
    gpu.instances.push_back({parts[i], parts[i + 1], std::atoi(parts[i + 2].c_str()),
                             std::atoll(parts[i + 3].c_str())});
  }
  return gpu;
}

std::vector<SmiGpu> MergeSmiGpus(const std::vector<SmiGpu>& files) {
  std::vector<SmiGpu> merged;
  for (const SmiGpu& file : files) {
    const auto same = std::find_if(merged.begin(), merged.end(),
                                   [&](const SmiGpu& gpu) { return gpu.uuid == file.uuid; });
    if (same == merged.end()) {
      merged.push_back(file);
    } else {
      same->instances.insert(same->instances.end(), file.instances.begin(), file.instances.end());
    }
  }
  std::stable_sort(merged.begin(), merged.end(),
                   [](const SmiGpu& a, const SmiGpu& b) { return a.minor < b.minor; });
  return merged;
}

SmiAnswer AnswerSmi(const std::vector<std::string>& words, std::vector<SmiGpu> gpus) {
  SmiRequest request;
  std::string unknown;
  if (!ReadSmiWords(words, request, unknown)) {
    return RefuseWords("'" + unknown +
                       "' is not supported for fake GPUs. `nvidia-smi --help` lists what is.\n");
  }
  if (request.helps) return {0, kSmiHelp + FieldNames() + ".\n"};
  if (gpus.empty()) return {kNotFound, "No devices were found\n"};
  bool is_found = false;
  for (size_t i = 0; i < gpus.size(); ++i) is_found |= IsChosen(gpus[i], i, request.id);
  if (!is_found) {
    return {kNotFound, "No devices were found\n",
            "nvidia-smi: this replica has no GPU '" + request.id + "'.\n"};
  }
  if (!request.lists && (!request.fields.empty() || !request.format.empty())) {
    return QueryGpus(request, gpus);
  }
  SmiAnswer answer;
  if (!request.lists) answer.out = TableHead();
  for (size_t i = 0; i < gpus.size(); ++i) {
    if (!IsChosen(gpus[i], i, request.id)) continue;
    answer.out += request.lists ? ListSmiGpu(gpus[i], i) : TableRow(gpus[i], i);
  }
  if (!request.lists) answer.out += kRule;
  return answer;
}

}  // namespace caip::host::smi
