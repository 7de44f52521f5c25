// Buckets, listings and settings through the XML API.
#include "base/encoding.h"
#include "tests/gcs_xml/xml_world.h"

namespace caip::gcs {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST_F(XmlTest, MakesListsAndDeletesBuckets) {
  EXPECT_EQ(Call("PUT", "/other",
                 "<CreateBucketConfiguration><LocationConstraint>eu</LocationConstraint>"
                 "<StorageClass>NEARLINE</StorageClass></CreateBucketConfiguration>")
                .status,
            200);
  EXPECT_EQ(Call("GET", "/other?location").xml.text, "EU");
  EXPECT_EQ(Call("GET", "/other?storageClass").xml.text, "NEARLINE");
  EXPECT_EQ(Call("PUT", "/other").code(), "BucketAlreadyOwnedByYou");
  const XmlAnswer list = Call("GET", "/", "", {{"Authorization", "GOOG1 a:YQ=="}});
  EXPECT_EQ(list.xml.name, "ListAllMyBucketsResult");
  std::vector<std::string> names;
  for (const XmlElement* bucket : list.xml.Child("Buckets")->All("Bucket")) {
    names.push_back(bucket->TextOf("Name"));
  }
  EXPECT_THAT(names, ElementsAre("bkt", "other"));
  world_.Put("o", "x");
  EXPECT_EQ(Call("DELETE", "/bkt").code(), "BucketNotEmpty");
  EXPECT_EQ(Call("DELETE", "/other").status, 204);
  EXPECT_EQ(Call("HEAD", "/other").status, 404);
  EXPECT_EQ(Call("HEAD", "/bkt/").status, 200);
}

TEST_F(XmlTest, ListsWithMarkersAndDelimiters) {
  for (const char* name : {"a", "d/1", "d/2", "d0", "e"}) world_.Put(name, "x");
  const XmlAnswer all = Call("GET", "/bkt");
  EXPECT_EQ(all.xml.name, "ListBucketResult");
  EXPECT_THAT(KeysIn(all), ElementsAre("a", "d/1", "d/2", "d0", "e"));
  EXPECT_EQ(all.xml.TextOf("IsTruncated"), "false");
  EXPECT_EQ(all.xml.Child("Contents")->TextOf("ETag"), "\"9dd4e461268c8034f5c8564e155c67a6\"");
  const XmlAnswer first = Call("GET", "/bkt?delimiter=/&max-keys=2");
  EXPECT_THAT(KeysIn(first), ElementsAre("a"));
  EXPECT_THAT(KeysIn(first, "CommonPrefixes", "Prefix"), ElementsAre("d/"));
  EXPECT_EQ(first.xml.TextOf("NextMarker"), "d/");
  const XmlAnswer second = Call("GET", "/bkt?delimiter=/&max-keys=2&marker=d/");
  EXPECT_THAT(KeysIn(second), ElementsAre("d0", "e"));
  EXPECT_THAT(KeysIn(Call("GET", "/bkt?marker=d/1")), ElementsAre("d/2", "d0", "e"));
  EXPECT_THAT(KeysIn(Call("GET", "/bkt?prefix=d/&delimiter=/&marker=d/1")), ElementsAre("d/2"));
  EXPECT_EQ(Call("GET", "/bkt?max-keys=x").code(), "InvalidArgument");
  EXPECT_EQ(Call("GET", "/bkt?max-keys=0").xml.TextOf("IsTruncated"), "false");
  EXPECT_EQ(Call("GET", "/missing?max-keys=0").code(), "NoSuchBucket");
}

TEST_F(XmlTest, ListsWithContinuationTokens) {
  for (int i = 0; i < 25; ++i) world_.Put("k" + std::to_string(100 + i), "x");
  std::vector<std::string> keys;
  std::string token;
  int pages = 0;
  do {
    const XmlAnswer page =
        Call("GET", "/bkt?list-type=2&max-keys=10" +
                        (token.empty() ? "" : "&continuation-token=" + PercentEncoded(token)));
    ASSERT_EQ(page.status, 200) << page.body;
    for (const std::string& key : KeysIn(page)) keys.push_back(key);
    token = page.xml.TextOf("NextContinuationToken");
    ++pages;
  } while (!token.empty() && pages < 10);
  EXPECT_EQ(pages, 3);
  EXPECT_EQ(keys.size(), 25u);
  EXPECT_THAT(KeysIn(Call("GET", "/bkt?list-type=2&start-after=k123")), ElementsAre("k124"));
}

TEST_F(XmlTest, EncodesNamesWhenAsked) {
  world_.Put("a b&c", "x");
  EXPECT_THAT(KeysIn(Call("GET", "/bkt")), ElementsAre("a b&c"));
  EXPECT_THAT(KeysIn(Call("GET", "/bkt?encoding-type=url")), ElementsAre("a%20b%26c"));
}

TEST_F(XmlTest, ListsVersions) {
  world_.Put("a", "x");
  const XmlAnswer versions = Call("GET", "/bkt?versions");
  EXPECT_THAT(KeysIn(versions, "Version"), ElementsAre("a"));
  EXPECT_EQ(versions.xml.Child("Version")->TextOf("IsLatest"), "true");
  EXPECT_FALSE(versions.xml.Child("Version")->TextOf("Generation").empty());
}

TEST_F(XmlTest, ListsAllVersionsOfANameOverSeveralPages) {
  EXPECT_EQ(Call("PUT", "/bkt?versioning",
                 "<VersioningConfiguration><Status>Enabled</Status></VersioningConfiguration>")
                .status,
            200);
  for (const char* content : {"1", "2", "3"}) world_.Put("a", content);
  const XmlAnswer first = Call("GET", "/bkt?versions&max-keys=2");
  EXPECT_THAT(KeysIn(first, "Version"), ElementsAre("a", "a"));
  const XmlAnswer second = Call(
      "GET", "/bkt?versions&max-keys=2&key-marker=" + first.xml.TextOf("NextKeyMarker") +
                 "&generation-marker=" + PercentEncoded(first.xml.TextOf("NextGenerationMarker")));
  EXPECT_THAT(KeysIn(second, "Version"), ElementsAre("a"));
  EXPECT_EQ(second.xml.Child("Version")->TextOf("IsLatest"), "true");
}

TEST_F(XmlTest, ReplacesLabelsByTagging) {
  EXPECT_EQ(Call("PUT", "/bkt?tagging",
                 "<Tagging><TagSet><Tag><Key>a</Key><Value>1</Value></Tag></TagSet></Tagging>")
                .status,
            200);
  EXPECT_EQ(Call("PUT", "/bkt?tagging",
                 "<Tagging><TagSet><Tag><Key>b</Key><Value>2</Value></Tag></TagSet></Tagging>")
                .status,
            200);
  const XmlAnswer tags = Call("GET", "/bkt?tagging");
  const auto list = tags.xml.Child("TagSet")->All("Tag");
  ASSERT_EQ(list.size(), 1u) << tags.body;
  EXPECT_EQ(list[0]->TextOf("Key"), "b");
  EXPECT_EQ(list[0]->TextOf("Value"), "2");
}

TEST_F(XmlTest, ReplacesBothPagesOfAWebsite) {
  const auto put = [&](const std::string& pages) {
    const std::string document = "<WebsiteConfiguration>" + pages + "</WebsiteConfiguration>";
    EXPECT_EQ(Call("PUT", "/bkt?websiteConfig", document).status, 200) << pages;
    return Call("GET", "/bkt?websiteConfig").xml;
  };
  const std::string main = "<MainPageSuffix>index.html</MainPageSuffix>";
  const std::string missing = "<NotFoundPage> 404.html</NotFoundPage>";
  EXPECT_EQ(put(main + missing).TextOf("NotFoundPage"), " 404.html");
  const XmlElement only_main = put(main);
  EXPECT_EQ(only_main.TextOf("MainPageSuffix"), "index.html");
  EXPECT_EQ(only_main.Child("NotFoundPage"), nullptr);
  const XmlElement only_missing = put(missing);
  EXPECT_EQ(only_missing.Child("MainPageSuffix"), nullptr);
  EXPECT_EQ(only_missing.TextOf("NotFoundPage"), " 404.html");
  EXPECT_TRUE(put("").children.empty());
}

TEST_F(XmlTest, KeepsTheBlanksOfNamesInALifecycleRuleAndOfNothingElse) {
  const std::string rule =
      "<Rule><Action>\n<SetStorageClass> COLDLINE\n</SetStorageClass></Action><Condition>\n"
      "<Age> 5\n</Age><CreatedBefore> 2019-01-15 </CreatedBefore><IsLive> true </IsLive>"
      "<MatchesStorageClass> STANDARD </MatchesStorageClass><MatchesPrefix> a </MatchesPrefix>"
      "<MatchesPrefix>b</MatchesPrefix><MatchesSuffix>\tc </MatchesSuffix></Condition></Rule>";
  const XmlAnswer put = Call("PUT", "/bkt?lifecycle",
                             "<LifecycleConfiguration>" + rule + "</LifecycleConfiguration>");
  ASSERT_EQ(put.status, 200) << put.body;
  const XmlAnswer got = Call("GET", "/bkt?lifecycle");
  const XmlElement* shown = got.xml.Child("Rule");
  ASSERT_NE(shown, nullptr) << got.body;
  EXPECT_EQ(shown->Child("Action")->TextOf("SetStorageClass"), "COLDLINE");
  const XmlElement& condition = *shown->Child("Condition");
  EXPECT_EQ(condition.TextOf("Age"), "5");
  EXPECT_EQ(condition.TextOf("CreatedBefore"), "2019-01-15");
  EXPECT_EQ(condition.TextOf("IsLive"), "true");
  EXPECT_EQ(condition.TextOf("MatchesStorageClass"), "STANDARD");
  ASSERT_EQ(condition.All("MatchesPrefix").size(), 2u) << got.body;
  EXPECT_EQ(condition.All("MatchesPrefix")[0]->text, " a ");
  EXPECT_EQ(condition.All("MatchesPrefix")[1]->text, "b");
  EXPECT_EQ(condition.TextOf("MatchesSuffix"), "\tc ");
}

TEST_F(XmlTest, ReadsTheWordsOfSettingsWithBlanksAroundThem) {
  struct Case {
    const char* setting;
    std::string before;
    std::string element;
    std::string word;
    std::string after;
  };
  const std::string entry =
      "<AccessControlList><Entries><Entry><Scope type=\"UserByEmail\"><EmailAddress>a@b"
      "</EmailAddress></Scope>";
  const Case cases[] = {
      {"versioning", "<VersioningConfiguration>", "Status", "Enabled",
       "</VersioningConfiguration>"},
      {"storageClass", "", "StorageClass", "COLDLINE", ""},
      {"billing", "<BillingConfiguration>", "RequesterPays", "Enabled", "</BillingConfiguration>"},
      {"cors", "<CorsConfig><Cors>", "MaxAgeSec", "60", "</Cors></CorsConfig>"},
      {"cors", "<CorsConfig><Cors><Origins>", "Origin", "http://a",
       "</Origins></Cors></CorsConfig>"},
      {"encryptionConfig", "<EncryptionConfiguration>", "DefaultKmsKeyName",
       "projects/p/locations/l/keyRings/r/cryptoKeys/k", "</EncryptionConfiguration>"},
      {"acl", entry, "Permission", "READ", "</Entry></Entries></AccessControlList>"},
  };
  for (const Case& c : cases) {
    const std::string target = std::string("/bkt?") + c.setting;
    const auto element = [&](const std::string& text) {
      return "<" + c.element + ">" + text + "</" + c.element + ">";
    };
    const XmlAnswer put = Call("PUT", target, c.before + element("\n " + c.word + "\t") + c.after);
    EXPECT_EQ(put.status, 200) << c.setting << ": " << put.body;
    EXPECT_THAT(Call("GET", target).body, HasSubstr(element(c.word)));
  }
}

TEST_F(XmlTest, AnswersEverySettingThatClientsAskFor) {
  for (const char* name :
       {"cors", "lifecycle", "versioning", "storageClass", "location", "logging", "websiteConfig",
        "billing", "encryptionConfig", "tagging", "acl", "defaultObjectAcl"}) {
    const XmlAnswer answer = Call("GET", std::string("/bkt?") + name);
    EXPECT_EQ(answer.status, 200) << name << ": " << answer.body;
    EXPECT_FALSE(answer.xml.name.empty()) << name;
  }
  EXPECT_EQ(Call("GET", "/bkt?policy").code(), "NotImplemented");
  EXPECT_EQ(Call("PUT", "/bkt?storageClass", "<StorageClass>COLDLINE</StorageClass>").status, 200);
  EXPECT_EQ(Call("GET", "/bkt?storageClass").xml.text, "COLDLINE");
  EXPECT_EQ(Call("PUT", "/bkt?location", "<LocationConstraint>EU</LocationConstraint>").status,
            405);
  EXPECT_EQ(Call("PUT", "/bkt?versioning", "<VersioningConfiguration/>").code(), "MalformedXML");
}

// What is beyond the schema would be lost.
TEST_F(XmlTest, RefusesDocumentsThatItsSchemaDoesNotHave) {
  world_.Put("o", "x");
  ASSERT_EQ(Call("PUT", "/bkt?billing",
                 "<BillingConfiguration><RequesterPays>Enabled</RequesterPays>"
                 "</BillingConfiguration>")
                .status,
            200);
  struct Case {
    const char* target;
    std::string root;
    std::vector<std::string> bad;
  };
  const std::string rule = "<Action><Delete/></Action><Condition><Age>1</Age>";
  const std::string entry = "<Scope type='AllUsers'/><Permission>READ</Permission>";
  const Case cases[] = {
      {"/bkt?billing",
       "BillingConfiguration",
       {"", "<RequesterPays/>", "<RequesterPays>Maybe</RequesterPays>",
        "<RequesterPays>enabled</RequesterPays>",
        "<RequesterPays>Enabled</RequesterPays><Payer>me</Payer>"}},
      {"/bkt?versioning",
       "VersioningConfiguration",
       {"<Status>On</Status>", "<Status>Enabled</Status><MfaDelete>Enabled</MfaDelete>"}},
      {"/bkt?storageClass", "StorageClass", {"<Foo/>"}},
      {"/bkt?logging", "Logging", {"<Foo/>", "<LoggingEnabled/>"}},
      {"/bkt?websiteConfig",
       "WebsiteConfiguration",
       {"<IndexDocument><Suffix>a</Suffix></IndexDocument>"}},
      {"/bkt?encryptionConfig", "EncryptionConfiguration", {"<Rule/>"}},
      {"/bkt?tagging",
       "Tagging",
       {"<Foo/>", "<TagSet><Foo/></TagSet>",
        "<TagSet><Tag><Key>k</Key><Value>v</Value><Foo/></Tag></TagSet>"}},
      {"/bkt?cors",
       "CorsConfig",
       {"<CORSRule/>", "<Cors><Foo/></Cors>", "<Cors><Origins><Foo/></Origins></Cors>",
        "<Cors><MaxAgeSec>1.5</MaxAgeSec></Cors>"}},
      {"/bkt?lifecycle",
       "LifecycleConfiguration",
       {"<Foo/>", "<Rule>" + rule + "</Condition><Foo/></Rule>",
        "<Rule>" + rule + "<IsLive>maybe</IsLive></Condition></Rule>"}},
      {"/bkt?acl",
       "AccessControlList",
       {"<Foo/>", "<Entries><Foo/></Entries>",
        "<Entries><Entry>" + entry + "<Foo/></Entry></Entries>"}},
      {"/bkt/made?compose",
       "ComposeRequest",
       {"<Foo/>", "<Component><Name>o</Name><Foo/></Component>",
        "<Component><Name>o</Name><Generation>new</Generation></Component>",
        "<Component><Name>o</Name><IfGenerationMatch>1x</IfGenerationMatch></Component>"}},
      {"/new", "CreateBucketConfiguration", {"<Foo/>"}},
  };
  for (const Case& c : cases) {
    const std::string before = Call("GET", c.target).body;
    std::vector<std::string> documents = {"<Foo/>", "<x" + c.root + "/>"};
    for (const std::string& inner : c.bad) {
      documents.push_back("<" + c.root + ">" + inner + "</" + c.root + ">");
    }
    for (const std::string& document : documents) {
      EXPECT_EQ(Call("PUT", c.target, document).code(), "MalformedXML") << c.target << document;
    }
    EXPECT_EQ(Call("GET", c.target).body, before) << c.target;
  }
}

TEST_F(XmlTest, RefusesOtherDocumentsThanAListOfDeletions) {
  world_.Put("o", "x");
  const std::string object = "<Object><Key>o</Key></Object>";
  for (const std::string& document :
       {"<Foo>" + object + "</Foo>", "<Delete>" + object + "<Foo/></Delete>",
        "<Delete><Quiet>maybe</Quiet>" + object + "</Delete>"}) {
    EXPECT_EQ(Call("POST", "/bkt?delete", document).code(), "MalformedXML") << document;
  }
  EXPECT_THAT(world_.Names(), ElementsAre("o"));
  const std::string quiet = "<Delete><Quiet>FALSE</Quiet>" + object + "</Delete>";
  EXPECT_THAT(KeysIn(Call("POST", "/bkt?delete", quiet), "Deleted"), ElementsAre("o"));
}

TEST_F(XmlTest, ANewBucketGetsItsRegionsAndReplication) {
  const auto create = [&](const std::string& name, const std::string& fields) {
    return Call("PUT", "/" + name,
                "<CreateBucketConfiguration>" + fields + "</CreateBucketConfiguration>");
  };
  const auto placement = [](const std::string& regions) {
    return "<LocationConstraint>US</LocationConstraint><CustomPlacementConfig>" + regions +
           "</CustomPlacementConfig>";
  };
  const auto pair = [](const std::string& first, const std::string& second) {
    return "<DataLocations><DataLocation>" + first + "</DataLocation><DataLocation> " + second +
           "\n</DataLocation></DataLocations>";
  };
  const std::string rpo = "<Rpo>ASYNC_TURBO</Rpo>";
  ASSERT_EQ(create("two", placement(pair("US-EAST1", "us-west1")) + rpo).status, 200);
  const auto settings = ParseJson(world_->GetBucket("two")->settings);
  ASSERT_TRUE(settings.ok());
  EXPECT_EQ((*settings)["customPlacementConfig"]["dataLocations"],
            Json::array({"US-EAST1", "US-WEST1"}));
  EXPECT_EQ((*settings)["rpo"], "ASYNC_TURBO");
  struct Case {
    std::string fields;
    const char* code;
  };
  const Case cases[] = {
      {placement("<DataLocations><DataLocation>US-EAST1</DataLocation></DataLocations>"),
       "InvalidArgument"},
      {placement(pair("US-EAST1", "EUROPE-WEST1")), "InvalidArgument"},
      {placement(""), "MalformedXML"},
      {placement("<DataLocations/>"), "MalformedXML"},
      {placement("<DataLocations><Foo/></DataLocations>"), "MalformedXML"},
      {placement("<Foo/>"), "MalformedXML"},
      {"<LocationConstraint>US-EAST1</LocationConstraint>" + rpo, "InvalidArgument"},
      {"<LocationConstraint>US</LocationConstraint><Rpo>FAST</Rpo>", "InvalidArgument"},
      {"<HierarchicalNamespace><Enabled>true</Enabled></HierarchicalNamespace>", "NotImplemented"},
  };
  for (const Case& c : cases) {
    const XmlAnswer answer = create("refused", c.fields);
    EXPECT_EQ(answer.code(), c.code) << c.fields << answer.body;
    EXPECT_EQ(Call("HEAD", "/refused").status, 404) << c.fields;
  }
}

TEST_F(XmlTest, ShowsAccessListsToBoto) {
  world_.Put("o", "x");
  for (const char* target : {"/bkt?acl", "/bkt/o?acl"}) {
    const XmlAnswer answer = Call("GET", target);
    ASSERT_EQ(answer.status, 200) << answer.body;
    EXPECT_EQ(answer.xml.name, "AccessControlList");
    EXPECT_THAT(answer.body, HasSubstr("<Permission>FULL_CONTROL</Permission>"));
  }
  EXPECT_EQ(Call("PUT", "/bkt/o?acl", "<Nonsense/>").code(), "MalformedXML");
}

TEST_F(XmlTest, ShowsAnEmptyListOfNewObjectsAsItIs) {
  const std::string empty = "<AccessControlList><Entries/></AccessControlList>";
  ASSERT_EQ(Call("PUT", "/bkt?defaultObjectAcl", empty).status, 200);
  const XmlAnswer shown = Call("GET", "/bkt?defaultObjectAcl");
  ASSERT_NE(shown.xml.Child("Entries"), nullptr) << shown.body;
  EXPECT_TRUE(shown.xml.Child("Entries")->All("Entry").empty()) << shown.body;
}

TEST_F(XmlTest, HasWritersOfBucketsOnlyAndAtMost100Entries) {
  world_.Put("o", "x");
  const auto list = [](int count, const std::string& permission) {
    std::string text = "<AccessControlList><Entries>";
    for (int i = 0; i < count; ++i) {
      text += "<Entry><Scope type='UserById'><ID>" + std::to_string(i) +
              "</ID></Scope><Permission>" + permission + "</Permission></Entry>";
    }
    return text + "</Entries></AccessControlList>";
  };
  EXPECT_EQ(Call("PUT", "/bkt?acl", list(1, "WRITE")).status, 200);
  for (const char* target : {"/bkt/o?acl", "/bkt?defaultObjectAcl"}) {
    EXPECT_EQ(Call("PUT", target, list(1, "WRITE")).code(), "InvalidArgument") << target;
  }
  for (const char* target : {"/bkt?acl", "/bkt/o?acl", "/bkt?defaultObjectAcl"}) {
    EXPECT_EQ(Call("PUT", target, list(100, "READ")).status, 200) << target;
    EXPECT_EQ(Call("PUT", target, list(101, "READ")).code(), "InvalidArgument") << target;
  }
  EXPECT_EQ(Call("PUT", "/bkt/o?acl", "", {{"x-goog-acl", "public-read-write"}}).code(),
            "InvalidArgument");
}

}  // namespace
}  // namespace caip::gcs
