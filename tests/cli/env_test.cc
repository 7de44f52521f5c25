#include "emulator/cli/commands/env.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <set>

#include "base/files.h"
#include "base/json.h"
#include "emulator/cli/arguments/arguments.h"
#include "emulator/cli/commands/commands.h"
#include "emulator/cli/output.h"

namespace caip::cli {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Key;
using ::testing::Not;
using ::testing::Pair;

ClientFacts Facts(const Path& state = "/state") {
  return {"http://127.0.0.1:2247", "demo", state, false, ""};
}

TEST(ClientVariables, LeadEveryKindOfClientHere) {
  const Variables variables = ClientVariables(Facts());
  EXPECT_THAT(variables,
              Contains(Pair("CLOUDSDK_API_ENDPOINT_OVERRIDES_ML", "http://127.0.0.1:2247/")));
  EXPECT_THAT(variables, Contains(Pair("CLOUDSDK_API_ENDPOINT_OVERRIDES_AIPLATFORM",
                                       "http://127.0.0.1:2247/")));
  EXPECT_THAT(variables, Contains(Pair("CLOUDSDK_API_ENDPOINT_OVERRIDES_STORAGE",
                                       "http://127.0.0.1:2247/storage/v1/")));
  EXPECT_THAT(variables, Contains(Pair("BOTO_CONFIG", "/state/gcloud/boto")));
  EXPECT_THAT(variables, Contains(Pair("STORAGE_EMULATOR_HOST", "http://127.0.0.1:2247")));
  EXPECT_THAT(variables, Contains(Pair("GCE_METADATA_HOST", "127.0.0.1:2247")));
  EXPECT_THAT(variables, Not(Contains(Key("https_proxy"))));
  EXPECT_THAT(variables, Contains(Pair("grpc_proxy", "http://127.0.0.1:2247")));
  EXPECT_THAT(variables, Contains(Pair("no_grpc_proxy", HasSubstr("localhost,127.0.0.1"))));
  EXPECT_THAT(variables,
              Contains(Pair("GRPC_DEFAULT_SSL_ROOTS_FILE_PATH", "/state/ca/bundle.pem")));
  std::set<std::string> names;
  for (const auto& [name, value] : variables) EXPECT_TRUE(names.insert(name).second) << name;
}

TEST(ClientVariables, WithTlsLeadHttpsClientsHereToo) {
  ClientFacts facts = Facts();
  facts.tls = true;
  facts.no_proxy = "intranet, .corp";
  const std::map<std::string, std::string> by_name = [&] {
    const Variables variables = ClientVariables(facts);
    return std::map<std::string, std::string>(variables.begin(), variables.end());
  }();
  EXPECT_EQ(by_name.at("https_proxy"), "http://127.0.0.1:2247");
  EXPECT_EQ(by_name.at("grpc_proxy"), "http://127.0.0.1:2247");
  EXPECT_EQ(by_name.at("CURL_CA_BUNDLE"), "/state/ca/bundle.pem");
  EXPECT_THAT(by_name.at("no_proxy"), HasSubstr("intranet,.corp"));
  EXPECT_EQ(by_name.at("no_grpc_proxy"), by_name.at("no_proxy"));
}

TEST(ClientVariables, OfRemoteClientsCarryTheTokenAndNameNoFile) {
  ClientFacts facts = Facts();
  facts.base_url = "http://box.example:2247";
  facts.token = "0123456789abcdef";
  const Variables variables = ClientVariables(facts);
  const std::string base = "http://caip:0123456789abcdef@box.example:2247";
  EXPECT_THAT(variables, Contains(Pair("STORAGE_EMULATOR_HOST", base)));
  EXPECT_THAT(variables,
              Contains(Pair("CLOUDSDK_API_ENDPOINT_OVERRIDES_ML", "http://localhost:2247/")));
  EXPECT_THAT(variables, Contains(Pair("CLOUDSDK_PROXY_ADDRESS", "box.example")));
  EXPECT_THAT(variables, Contains(Pair("CLOUDSDK_PROXY_PASSWORD", facts.token)));
  EXPECT_THAT(variables, Contains(Pair("CAIP_ENDPOINT", base)));
  EXPECT_THAT(variables, Contains(Pair("GOOGLE_AUTH_TOKEN_FOR_TESTING", facts.token)));
  for (const auto& [name, value] : variables) EXPECT_THAT(value, Not(HasSubstr("/state"))) << name;
}

TEST(ClientFiles, KeepGcloudFromLookingForAMetadataServer) {
  const TemporaryDirectory directory;
  ASSERT_TRUE(WriteClientFiles(Facts(directory.path())).ok());
  EXPECT_EQ(*ReadFile(directory.path() / "gcloud/gce"), "False");
}

TEST(ClientFiles, LeadGsutilThroughGcloudOrByTlsHere) {
  const TemporaryDirectory directory;
  ASSERT_TRUE(WriteClientFiles(Facts(directory.path())).ok());
  const std::string boto = *ReadFile(directory.path() / "gcloud/boto");
  EXPECT_THAT(boto, HasSubstr("\nuse_gcloud_storage = True\n"));
  EXPECT_THAT(boto, Not(HasSubstr("gs_json_host")));  // gcloud would refuse what gsutil makes of it
  const std::string tls = *ReadFile(directory.path() / "gcloud/boto-tls");
  EXPECT_THAT(tls, HasSubstr("\nuse_gcloud_storage = False\n"));
  EXPECT_THAT(tls, HasSubstr("\ngs_json_port = 2247\n"));
  EXPECT_THAT(tls, HasSubstr("\ngs_json_host = 127.0.0.1\n"));
  EXPECT_THAT(tls, HasSubstr("/ca/bundle.pem\n"));
}

TEST(VariablesText, IsWhatEachReaderReads) {
  const Variables variables = {{"PLAIN", "http://h:1/"}, {"ODD", "it's $5 #1"}};
  EXPECT_EQ(SetText(variables, VariablesFormat::kDotenv),
            "PLAIN=http://h:1/\nODD=\"it's \\$5 #1\"\n");
  EXPECT_EQ(SetText(variables, VariablesFormat::kGithub), "PLAIN=http://h:1/\nODD=it's $5 #1\n");
  EXPECT_EQ(SetText(variables, VariablesFormat::kPowershell),
            "$env:PLAIN = 'http://h:1/'\n$env:ODD = 'it''s $5 #1'\n");
  EXPECT_EQ(*ParseJson(SetText(variables, VariablesFormat::kJson)),
            Json({{"PLAIN", "http://h:1/"}, {"ODD", "it's $5 #1"}}));
  EXPECT_THAT(SetText(variables, VariablesFormat::kShell), HasSubstr("export PLAIN=http://h:1/\n"));
}

TEST(VariablesText, TakesThemBack) {
  const Variables variables = {{"A", "1"}, {"B", "2"}};
  EXPECT_EQ(UnsetText(variables, VariablesFormat::kShell), "unset A\nunset B\n");
  EXPECT_EQ(UnsetText(variables, VariablesFormat::kDotenv), "A=\nB=\n");
  EXPECT_EQ(UnsetText(variables, VariablesFormat::kPowershell),
            "Remove-Item -ErrorAction Ignore Env:A\nRemove-Item -ErrorAction Ignore Env:B\n");
}

class NoConnection final : public client::Connection {
 public:
  using Connection::Send;
  Result<http::ClientResponse> Send(const http::ClientRequest&, const client::BodySink&) override {
    return Error{Code::kUnavailable, "nobody"};
  }
  std::string base_url() const override { return "http://127.0.0.1:4321"; }
};

struct Ran {
  int exit_code = 0;
  std::string out;
  std::string err;
  int connections = 0;
};

Ran RunEnvWith(std::vector<std::string> words, bool has_emulator = true) {
  const TemporaryDirectory directory;
  words.insert(words.begin(), "env");
  words.insert(words.end(), {"--state", (directory.path() / "state").string()});
  const Command command = ParseArguments(words);
  Ran ran;
  if (const auto* print = std::get_if<PrintCommand>(&command)) {
    return {print->exit_code, print->out, print->err, 0};
  }
  const Io io{[&](std::string_view text) { ran.out += text; },
              [&](std::string_view text) { ran.err += text; }};
  const app::Connect connect = [&](const app::EmulatorFlags&,
                                   app::Lifetime) -> Result<std::unique_ptr<client::Connection>> {
    ++ran.connections;
    if (!has_emulator) return Error{Code::kUnavailable, "no emulator"};
    return std::unique_ptr<client::Connection>(new NoConnection);
  };
  ran.exit_code = RunEnv(std::get<EnvCommand>(command), {io, connect, nullptr});
  return ran;
}

TEST(Env, SaysItInEveryFormat) {
  for (const std::string& format : VariablesFormatNames()) {
    const Ran ran = RunEnvWith({"--format", format});
    EXPECT_EQ(ran.exit_code, 0) << format << ran.err;
    EXPECT_THAT(ran.out, HasSubstr("http://127.0.0.1:4321/storage/v1/")) << format;
  }
  const Ran odd = RunEnvWith({"--format", "toml"});
  EXPECT_EQ(odd.exit_code, 2);
  EXPECT_THAT(odd.err, HasSubstr("powershell"));
}

// eval "$(caip env)" succeeds if the words of caip do.
TEST(Env, PrintsACommandThatFailsIfItFails) {
  const auto shell = RunEnvWith({}, false);
  EXPECT_EQ(shell.exit_code, 1);
  EXPECT_EQ(shell.out, "false\n");
  EXPECT_THAT(shell.err, HasSubstr("no emulator"));
  for (const std::string format : {"dotenv", "json", "github", "powershell"}) {
    EXPECT_EQ(RunEnvWith({"--format", format}, false).out, "") << format;
  }
  EXPECT_EQ(RunEnvWith({"--hosts"}, false).out, "");
}

TEST(Env, TakesBackAllThatItMayHaveSetWithoutAskingAnybody) {
  const Ran ran = RunEnvWith({"--unset"});
  EXPECT_EQ(ran.connections, 0);
  EXPECT_THAT(ran.out, HasSubstr("unset STORAGE_EMULATOR_HOST\n"));
  EXPECT_THAT(ran.out, HasSubstr("unset https_proxy\n"));
}

TEST(Env, RefusesARemoteHostThatIsNone) {
  for (const char* host : {"", "a/b", "user@a", "a:80", "a b"}) {
    const Ran ran = RunEnvWith({"--remote", host});
    EXPECT_EQ(ran.exit_code, 2) << host;
    EXPECT_THAT(ran.err, HasSubstr("--remote")) << host;
  }
  EXPECT_EQ(RunEnvWith({"--remote", "a", "--tls"}).exit_code, 2);
  EXPECT_EQ(RunEnvWith({"--remote", "[fd00::2]"}).exit_code, 1) << "nobody answers";
}

TEST(Env, PrintsTheHostsOfRegionalEndpoints) {
  const Ran ran = RunEnvWith({"--hosts"});
  EXPECT_THAT(ran.out, HasSubstr("127.0.0.1 ml.local\n"));
  EXPECT_THAT(ran.out, HasSubstr("127.0.0.1 us-central1-ml.local\n"));
  EXPECT_THAT(ran.out, HasSubstr("--allow-host '*-ml.local'"));
  EXPECT_THAT(ran.out, HasSubstr("http://ml.local:4321/"));
}

TEST(Verbosity, HidesMessagesBelowItAndNoResults) {
  std::string out;
  std::string err;
  const Io io{[&](std::string_view text) { out += text; },
              [&](std::string_view text) { err += text; }};
  const auto said = [&](const std::string& verbosity, bool user_output) {
    out.clear();
    err.clear();
    GcloudFlags flags;
    flags.verbosity = verbosity;
    flags.user_output_enabled = user_output;
    const Io shown = IoFor(flags, io);
    shown.out("result\n");
    shown.err("ERROR: (caip.jobs.list) no\n");
    shown.err("WARNING: hm\n");
    shown.err("Updated.\n");
    return out + err;
  };
  EXPECT_EQ(said("warning", true), "result\nERROR: (caip.jobs.list) no\nWARNING: hm\nUpdated.\n");
  EXPECT_EQ(said("error", true), "result\nERROR: (caip.jobs.list) no\nUpdated.\n");
  EXPECT_EQ(said("none", true), "result\nUpdated.\n");
  EXPECT_EQ(said("warning", false), "ERROR: (caip.jobs.list) no\nWARNING: hm\n");
}

}  // namespace
}  // namespace caip::cli
