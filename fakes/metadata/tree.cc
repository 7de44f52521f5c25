#include "fakes/metadata/tree.h"

#include <cctype>

#include "base/json.h"

namespace caip::metadata {
namespace {

Node Text(std::string name, std::string value) {
  return {.name = std::move(name), .text = std::move(value)};
}

Node Number(std::string name, std::string digits) {
  return {.name = std::move(name), .kind = Node::Kind::kNumber, .text = std::move(digits)};
}

Node Lines(std::string name, std::vector<std::string> lines) {
  return {.name = std::move(name), .kind = Node::Kind::kLines, .lines = std::move(lines)};
}

Node Directory(std::string name, std::vector<Node> children) {
  return {.name = std::move(name), .kind = Node::Kind::kDirectory, .children = std::move(children)};
}

Node Indexed(std::string name, std::vector<Node> children) {
  for (size_t i = 0; i < children.size(); ++i) children[i].name = std::to_string(i);
  return {.name = std::move(name), .kind = Node::Kind::kIndexed, .children = std::move(children)};
}

std::string BooleanText(bool value) { return value ? "TRUE" : "FALSE"; }

// Names that users choose are unchanged in JSON.
Node Attributes(const std::map<std::string, std::string>& attributes) {
  Node directory = Directory("attributes", {});
  for (const auto& [name, value] : attributes) {
    directory.children.push_back(Text(name, value));
    directory.children.back().own_name = true;
  }
  return directory;
}

Node Disks() {
  return Indexed("disks",
                 {Directory("", {Text("device-name", "persistent-disk-0"), Number("index", "0"),
                                 Text("interface", "SCSI"), Text("mode", "READ_WRITE"),
                                 Text("type", "PERSISTENT")})});
}

// Machines of the emulator are on the loopback network 127.0.0.0/8, whose own host is the gateway
// and the name server. The MAC address repeats that address, as Compute Engine does: 42:01, 7f00:1.
Node NetworkInterfaces(const Machine& machine) {
  const std::string network = "projects/" + machine.project_number + "/networks/default";
  return Indexed("network-interfaces",
                 {Directory("", {Indexed("access-configs", {}), Lines("dns-servers", {"127.0.0.1"}),
                                 Indexed("forwarded-ips", {}), Text("gateway", "127.0.0.1"),
                                 Text("ip", machine.ip), Indexed("ip-aliases", {}),
                                 Text("mac", "42:01:7f:00:00:01"), Number("mtu", "1460"),
                                 Text("network", network), Text("subnetmask", "255.0.0.0"),
                                 Indexed("target-instance-ips", {})})});
}

Node Account(std::string name, const Machine& machine) {
  Node account = Directory(std::move(name), {Lines("aliases", {"default"}),
                                             Text("email", machine.service_account),
                                             {.name = "identity", .kind = Node::Kind::kOnDemand},
                                             Lines("scopes", machine.scopes),
                                             {.name = "token", .kind = Node::Kind::kOnDemand}});
  account.own_name = true;
  return account;
}

Node ServiceAccounts(const Machine& machine) {
  Node accounts = Directory("service-accounts", {});
  if (machine.service_account.empty()) return accounts;
  accounts.children = {Account(machine.service_account, machine), Account("default", machine)};
  return accounts;
}

Node Instance(const Machine& machine) {
  const std::string project = "projects/" + machine.project_number;
  Node tags = Lines("tags", machine.tags);
  tags.json_by_default = true;
  return Directory(
      "instance",
      {Attributes(machine.attributes),
       Text("cpu-platform", machine.cpu_platform),
       Text("description", ""),
       Disks(),
       Directory("machine-attributes", {}),
       Text("hostname", machine.hostname),
       Number("id", std::to_string(machine.instance_id)),
       Text("image", machine.image),
       Indexed("licenses", {}),
       Text("machine-type", project + "/machineTypes/" + machine.machine_type),
       Text("maintenance-event", machine.maintenance_event),
       Text("name", machine.name),
       NetworkInterfaces(machine),
       Directory("partner-attributes", {}),
       Text("preempted", BooleanText(machine.preempted)),
       Number("remaining-cpu-time", "-1"),
       Directory("scheduling",
                 {Text("automatic-restart", BooleanText(!machine.preemptible)),
                  Text("on-host-maintenance", machine.preemptible ? "TERMINATE" : "MIGRATE"),
                  Text("preemptible", BooleanText(machine.preemptible))}),
       ServiceAccounts(machine),
       tags,
       Directory("virtual-clock", {Text("drift-token", "0")}),
       Text("zone", project + "/zones/" + machine.zone)});
}

// Converts "numeric-project-id" to "numericProjectId".
std::string CamelCase(std::string_view name) {
  std::string camel;
  bool upper = false;
  for (char c : name) {
    if (c == '-') {
      upper = true;
    } else {
      camel += upper ? static_cast<char>(std::toupper(static_cast<unsigned char>(c))) : c;
      upper = false;
    }
  }
  return camel;
}

Json NumberJson(const std::string& digits) {
  const Json parsed = Json::parse(digits, nullptr, /*allow_exceptions=*/false);
  return parsed.is_number_integer() ? parsed : Json(digits);
}

std::string ListedName(const Node& node) {
  return node.IsDirectory() ? node.name + "/" : node.name;
}

void AddLines(const Node& node, const std::string& path, std::string& text) {
  switch (node.kind) {
    case Node::Kind::kDirectory:
    case Node::Kind::kIndexed:
      for (const Node& child : node.children) {
        AddLines(child, path.empty() ? child.name : path + "/" + child.name, text);
      }
      break;
    case Node::Kind::kLines:
      for (const std::string& line : node.lines) text += path + " " + line + "\n";
      break;
    case Node::Kind::kOnDemand:
      break;
    default:
      text += path + " " + node.text + "\n";
  }
}

}  // namespace

Node BuildTree(const Machine& machine) {
  return Directory("v1",
                   {Instance(machine), Directory("oslogin", {}),
                    Directory("project", {Attributes(machine.project_attributes),
                                          Number("numeric-project-id", machine.project_number),
                                          Text("project-id", machine.project_id)}),
                    Directory("universe", {Text("universe-domain", "googleapis.com")})});
}

const Node* FindNode(const Node& root, const std::vector<std::string>& segments) {
  const Node* node = &root;
  for (const std::string& segment : segments) {
    const Node* next = nullptr;
    // Older clients use universe_domain.
    for (const Node& child : node->children) {
      if (child.name == segment ||
          (child.name == "universe-domain" && segment == "universe_domain")) {
        next = &child;
      }
    }
    if (!next) return nullptr;
    node = next;
  }
  return node;
}

std::string ListingText(const Node& directory) {
  std::string text;
  for (const Node& child : directory.children) text += ListedName(child) + "\n";
  return text;
}

Json ListingJson(const Node& directory) {
  Json names = Json::array();
  for (const Node& child : directory.children) names.push_back(ListedName(child));
  return names;
}

std::string ValueText(const Node& leaf) {
  if (leaf.kind != Node::Kind::kLines) return leaf.text;
  std::string text;
  for (const std::string& line : leaf.lines) text += line + "\n";
  return text;
}

Json ToJson(const Node& node) {
  switch (node.kind) {
    case Node::Kind::kText:
      return node.text;
    case Node::Kind::kNumber:
      return NumberJson(node.text);
    case Node::Kind::kLines:
      return node.lines;
    case Node::Kind::kOnDemand:
      return nullptr;
    case Node::Kind::kIndexed: {
      Json list = Json::array();
      for (const Node& child : node.children) list.push_back(ToJson(child));
      return list;
    }
    case Node::Kind::kDirectory:
      break;
  }
  Json object = Json::object();
  for (const Node& child : node.children) {
    if (child.kind == Node::Kind::kOnDemand) continue;
    object[child.own_name ? child.name : CamelCase(child.name)] = ToJson(child);
  }
  return object;
}

std::string RecursiveText(const Node& directory) {
  std::string text;
  AddLines(directory, "", text);
  return text;
}

}  // namespace caip::metadata
