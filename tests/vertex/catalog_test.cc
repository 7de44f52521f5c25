// The catalog of custom training is complete, and a broken one is refused.

#include "vertex/catalog/catalog.h"

#include "tests/vertex/a_custom_job.h"
#include "vertex/schema/custom_job_schema.h"

namespace caip::vertex {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(VertexCatalog, DescribesMachines) {
  const MachineType* machine = DefaultCatalog().FindMachine("n1-highmem-16");
  ASSERT_NE(machine, nullptr);
  EXPECT_EQ(machine->vcpus, 16);
  EXPECT_EQ(machine->memory_gb, 104);
  EXPECT_FALSE(machine->has_own);
  EXPECT_THAT(machine->accelerators.at("NVIDIA_TESLA_V100").counts, ElementsAre(2, 4, 8));
  EXPECT_TRUE(DefaultCatalog().FindMachine("a3-ultragpu-8g")->has_own);
  EXPECT_EQ(DefaultCatalog().FindMachine("standard"), nullptr) << "a name of AI Platform";
}

TEST(VertexCatalog, NamesOnlyAcceleratorsOfTheApi) {
  const google::FieldSchema* spec = CustomJobSpecSchema().Find("worker_pool_specs");
  const google::FieldSchema* machine = spec->message->Find("machine_spec");
  const google::EnumSchema& types = *machine->message->Find("accelerator_type")->enumeration;
  for (const MachineType& type : DefaultCatalog().machines()) {
    for (const auto& [name, counts] : type.accelerators) {
      EXPECT_TRUE(types.Has(name)) << name;
      EXPECT_FALSE(counts.InWords().empty()) << name;
    }
  }
  for (const std::string& name : DefaultCatalog().flex_start()) EXPECT_TRUE(types.Has(name));
  EXPECT_TRUE(DefaultCatalog().HasFlexStart("NVIDIA_L4"));
  EXPECT_FALSE(DefaultCatalog().HasFlexStart("NVIDIA_TESLA_T4"));
}

TEST(VertexCatalog, SaysWhichEntryIsBroken) {
  struct Row {
    const char* text;
    const char* told;
  };
  const Row rows[] = {
      {"{}", "machines"},
      {R"({"machines": {"series": [{"series": "n1", "gb_per_vcpu": 1}]}})", "no vcpus"},
      {R"({"machines": {"series": [{"series": "n1", "gb_per_vcpu": 1, "vcpus": [1, 1]}]}})",
       "'n1-1': it is listed twice"},
  };
  for (const Row& row : rows) {
    const auto catalog = Catalog::Parse(row.text);
    ASSERT_FALSE(catalog.ok()) << row.text;
    EXPECT_THAT(catalog.error().message, HasSubstr(row.told));
  }
}

}  // namespace
}  // namespace caip::vertex
