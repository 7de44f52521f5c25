#include "fakes/metadata/tree.h"

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

std::string Truth(bool value) { return value ? "TRUE" : "FALSE"; }

// What users name themselves keeps its name in JSON.
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

Node NetworkInterfaces(const Guest& guest) {
  const std::string network = "projects/" + guest.project_number + "/networks/default";
  return Indexed("network-interfaces",
                 {Directory("", {Indexed("access-configs", {}), Lines("dns-servers", {"127.0.0.1"}),
                                 Indexed("forwarded-ips", {}), Text("gateway", "127.0.0.1"),
                                 Text("ip", guest.ip), Indexed("ip-aliases", {}),
                                 Text("mac", "42:01:7f:00:00:01"), Number("mtu", "1460"),
                                 Text("network", network), Text("subnetmask", "255.0.0.0"),
                                 Indexed("target-instance-ips", {})})});
}

Node Account(std::string name, const Guest& guest) {
  Node account = Directory(std::move(name), {Lines("aliases", {"default"}),
                                             Text("email", guest.service_account),
                                             {.name = "identity", .kind = Node::Kind::kOnDemand},
                                             Lines("scopes", guest.scopes),
                                             {.name = "token", .kind = Node::Kind::kOnDemand}});
  account.own_name = true;
  return account;
}

Node ServiceAccounts(const Guest& guest) {
  Node accounts = Directory("service-accounts", {});
  if (guest.service_account.empty()) return accounts;
  accounts.children = {Account(guest.service_account, guest), Account("default", guest)};
  return accounts;
}

Node Instance(const Guest& guest) {
  const std::string project = "projects/" + guest.project_number;
  Node tags = Lines("tags", guest.tags);
  tags.json_by_default = true;
  return Directory("instance",
                   {Attributes(guest.attributes),
                    Text("cpu-platform", guest.cpu_platform),
                    Text("description", ""),
                    Disks(),
                    Directory("guest-attributes", {}),
                    Text("hostname", guest.hostname),
                    Number("id", std::to_string(guest.instance_id)),
                    Text("image", guest.image),
                    Indexed("licenses", {}),
                    Text("machine-type", project + "/machineTypes/" + guest.machine_type),
                    Text("maintenance-event", guest.maintenance_event),
                    Text("name", guest.name),
                    NetworkInterfaces(guest),
                    Directory("partner-attributes", {}),
                    Text("preempted", Truth(guest.preempted)),
                    Number("remaining-cpu-time", "-1"),
                    Directory("scheduling", {Text("automatic-restart", Truth(!guest.preemptible)),
                                             Text("on-host-maintenance",
                                                  guest.preemptible ? "TERMINATE" : "MIGRATE"),
                                             Text("preemptible", Truth(guest.preemptible))}),
                    ServiceAccounts(guest),
                    tags,
                    Directory("virtual-clock", {Text("drift-token", "0")}),
                    Text("zone", project + "/zones/" + guest.zone)});
}

}  // namespace

Node TreeOf(const Guest& guest) {
  return Directory("v1", {Instance(guest), Directory("oslogin", {}),
                          Directory("project", {Attributes(guest.project_attributes),
                                                Number("numeric-project-id", guest.project_number),
                                                Text("project-id", guest.project_id)}),
                          Directory("universe", {Text("universe-domain", "googleapis.com")})});
}

const Node* FindNode(const Node& root, const std::vector<std::string>& segments) {
  const Node* node = &root;
  for (const std::string& segment : segments) {
    const Node* next = nullptr;
    // Older clients write universe_domain.
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

}  // namespace caip::metadata
