#include "fakes/gcs/xml/xml_text.h"

#include <gtest/gtest.h>

namespace caip::gcs {
namespace {

TEST(XmlText, ReadsElementsTextAndEntities) {
  const auto root = ParseXml(
      "\xef\xbb\xbf<?xml version=\"1.0\"?><!-- a --><x:List xmlns:x='u'><Item kind=\"a&amp;b\"> "
      "&lt;1&gt; &#x41;&#66;<![CDATA[<c>]]> </Item><Empty/></x:List> ");
  ASSERT_TRUE(root.ok()) << root.error().message;
  EXPECT_EQ(root->name, "List");
  EXPECT_EQ(root->TextOf("Item"), " <1> AB<c> ");
  EXPECT_EQ(root->WordOf("Item"), "<1> AB<c>");
  EXPECT_EQ(root->Child("Item")->attributes[0].second, "a&b");
  EXPECT_NE(root->Child("Empty"), nullptr);
  EXPECT_EQ(root->Child("Missing"), nullptr);
}

TEST(XmlText, KeepsTheBlanksOfAnElementWithoutChildren) {
  const auto root = ParseXml(
      "<List>\n <Key> a\t</Key> <Key>a<!-- b --> <![CDATA[c]]><?d?>\n</Key>\n <Key> </Key></List>");
  ASSERT_TRUE(root.ok()) << root.error().message;
  EXPECT_EQ(root->text, "");
  const auto keys = root->All("Key");
  ASSERT_EQ(keys.size(), 3u);
  EXPECT_EQ(keys[0]->text, " a\t");
  EXPECT_EQ(keys[1]->text, "a c\n");
  EXPECT_EQ(keys[2]->text, " ");
  EXPECT_EQ(root->WordOf("Key"), "a");
  EXPECT_EQ(root->WordOf("Missing"), "");
}

TEST(XmlText, ReadsCharacterDataAfterAComment) {
  const auto root = ParseXml("<a><!-- b --><![CDATA[c]]></a>");
  ASSERT_TRUE(root.ok()) << root.error().message;
  EXPECT_EQ(root->text, "c");
}

TEST(XmlText, RefusesWhatIsBroken) {
  for (const char* text :
       {"", "x", "<a>", "<a></b>", "<a><b></a></b>", "<a b=c/>", "<a>&nope;</a>", "<a>&#0;</a>",
        "<a/><b/>", "<a", "<!DOCTYPE a [<!ENTITY b 'c'>]><a>&b;</a>", "<a>&#xD800;</a>", "< a/>",
        "<a:/>", "<a::b/>", "<?a/>", "<a><!b></a>", "<a>b<!-- c</a>", "<a><-b/></a>"}) {
    EXPECT_FALSE(ParseXml(text).ok()) << text;
  }
}

TEST(XmlText, RefusesCharactersThatXmlCannotHold) {
  for (const std::string character :
       {"\x01", "\x1f", "\xef\xbf\xbe", "\xef\xbf\xbf", "&#1;", "&#x1F;", "&#xFFFE;", "&#65535;"}) {
    EXPECT_FALSE(ParseXml("<a>" + character + "</a>").ok()) << character;
    EXPECT_FALSE(ParseXml("<a b=\"" + character + "\"/>").ok()) << character;
  }
  EXPECT_FALSE(ParseXml("<a><![CDATA[\x01]]></a>").ok());
  EXPECT_TRUE(ParseXml("<a>\t\r\n \xef\xbf\xbd&#9;&#xFFFD;&#x10000;</a>").ok());
}

TEST(XmlText, RefusesEndlessDepth) {
  std::string deep;
  for (int i = 0; i < 10'000; ++i) deep += "<a>";
  EXPECT_FALSE(ParseXml(deep).ok());
}

TEST(XmlText, ReadsToItsDepthAndNoDeeper) {
  const auto nested = [](int depth) {
    std::string text;
    for (int i = 0; i < depth; ++i) text += "<a>";
    for (int i = 0; i < depth; ++i) text += "</a>";
    return text;
  };
  EXPECT_TRUE(ParseXml(nested(kXmlDepthMax)).ok());
  EXPECT_FALSE(ParseXml(nested(kXmlDepthMax + 1)).ok());
}

TEST(XmlText, WritesWhatItCanReadBack) {
  XmlElement root("Root");
  root.Add("Key", "a<b>&\"c\r\n\xc3\xa4");
  const auto again = ParseXml(XmlDocument(root));
  ASSERT_TRUE(again.ok()) << again.error().message;
  EXPECT_EQ(again->TextOf("Key"), "a<b>&\"c\r\n\xc3\xa4");
}

TEST(XmlText, WritesNoByteThatXmlCannotHold) {
  XmlElement root("Root", std::string("a\x01") + "\xff");
  EXPECT_EQ(XmlDocument(root), "<?xml version='1.0' encoding='UTF-8'?><Root>a?\?</Root>");
}

TEST(XmlText, WritesNoCharacterThatXmlCannotHold) {
  XmlElement root("Root",
                  "a\xef\xbf\xbe"
                  "b\xef\xbf\xbf\xef\xbf\xbd");
  root.attributes.emplace_back("name", "\xef\xbf\xbf.txt");
  EXPECT_EQ(XmlDocument(root),
            "<?xml version='1.0' encoding='UTF-8'?><Root name=\"?.txt\">"
            "a?b?\xef\xbf\xbd</Root>");
}

}  // namespace
}  // namespace caip::gcs
