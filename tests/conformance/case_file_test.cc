#include "conformance/format/case_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/encoding.h"
#include "conformance/format/matcher.h"
#include "conformance/format/step.h"
#include "tests/conformance/case_of.h"

namespace conform {
namespace {

using testing::HasSubstr;

std::string WithCase(const std::string& lines) {
  return "cases:\n  - id: one\n    sentence: It is so.\n    rules: [rule.a]\n" + lines;
}

TEST(CaseFile, ACaseIsOneStepOrSeveral) {
  const auto cases = CasesOfText(WithCase(R"(    given:
      - {create: {base: python}, expect: accepted}
    call: GET /v1/projects/${project}/jobs/${job}
    expect: {status: 200}
)"));
  ASSERT_TRUE(cases.ok()) << cases.problem().text;
  const Case& one = cases.value().at(0);
  EXPECT_EQ(one.id, "chapter/one");
  EXPECT_EQ(one.place, "cases/x.yaml:2");
  EXPECT_EQ(one.given.size(), 1u);
  ASSERT_EQ(one.steps.size(), 1u);
  EXPECT_EQ(one.steps[0]["call"], "GET /v1/projects/${project}/jobs/${job}");
}

TEST(CaseFile, TablesBecomeOneCaseARow) {
  const auto cases = CasesOfText(R"(
cases:
  - id: ${name}-${n}
    sentence: ${name} takes ${n}.
    rules: [rule.a]
    table:
      columns: [name, value]
      rows: [[a, {x: 1}], [b, [2]]]
    each: {n: [1, 2, 3]}
    create: {base: python, set: {"k${n}": "${value}", n: "${n}"}}
)");
  ASSERT_TRUE(cases.ok()) << cases.problem().text;
  ASSERT_EQ(cases.value().size(), 6u);
  EXPECT_EQ(cases.value()[4].id, "chapter/b-2");
  EXPECT_EQ(cases.value()[4].sentence, "b takes 2.");
  EXPECT_EQ(cases.value()[4].steps[0]["create"]["set"], Json::parse(R"({"k2": [2], "n": 2})"));
}

TEST(CaseFile, LongValuesAreWrittenShortly) {
  const auto cases = CasesOfText(WithCase(R"(    create:
      set:
        list: {$repeat: x, times: 3}
        numbers: {$range: [5, 3]}
        map: {$keys: k, times: 2, value: v}
        both: {$concat: [[1], [2, 3]]}
        named: {$repeat: {name: "V${#}", at: "${#}"}, times: 2}
        merged: {$merge: [{a: 1, b: 2}, {b: 3}]}
)"));
  ASSERT_TRUE(cases.ok()) << cases.problem().text;
  EXPECT_EQ(cases.value()[0].steps[0]["create"]["set"],
            Json::parse(R"({"list": ["x", "x", "x"], "numbers": [5, 6, 7],
                            "map": {"k0": "v", "k1": "v"}, "both": [1, 2, 3],
                            "named": [{"name": "V0", "at": 0}, {"name": "V1", "at": 1}],
                            "merged": {"a": 1, "b": 3}})"));
}

TEST(CaseFile, AMistakeIsShownWithFileLineAndCaret) {
  EXPECT_EQ(MistakeOfText(WithCase("    call: GET /\n    expct: {status: 200}\n")),
            "cases/x.yaml:6:5: unknown word 'expct'; did you mean 'expect'?\n"
            "    expct: {status: 200}\n"
            "    ^");
}

TEST(CaseFile, MistakesOfEveryKindAreFound) {
  const struct {
    const char* lines;
    const char* complaint;
  } rows[] = {
      {"    sentence: twice\n    call: GET /\n", "cases/x.yaml:5:5: 'sentence' occurs twice"},
      {"    call: GET /\n    expect: {status: {$is: 1}}\n", "unknown matcher '$is'"},
      {"    call: GET /\n    expect: {text: {$matches: '('}}\n",
       "is not a valid regular expression"},
      {"    call: GET /\n    expect: fine\n", "`expect` must be a map or `accepted`, not 'fine'"},
      {"    call: GET /\n    api: vertx\n", "cases/x.yaml:6:5: unknown word 'vertx'; did you mean"},
      {"    call: GET /\n    expect: {found: a, becuse: b}\n", "did you mean 'because'?"},
      {"    create: {}\n    expect: {refused: a, becuse: b}\n", "did you mean 'because'?"},
      {"    needs: [x]\n", "a step must have one of the words"},
      {"    call: GET /${nothing}\n",
       "${nothing} is not a column, a setting, or a name saved before"},
      {"    call: GET /\n    table: {columns: [a, b], rows: [[1]]}\n", "1 values for 2 columns"},
      {"    call: GET /\n    table: [1]\n", "must be a map of name to value"},
      {"    call: GET /\n    table: {rows: []}\n", "a table must be {columns, rows}"},
      {"    call: GET /\n    each: {a: []}\n", "'a' requires a list"},
      {"    call: GET /\n    each: {a: [1, 2]}\n", "the id 'chapter/one' occurs twice"},
      {"    call: POST /\n    base64: AAA\n", "cases/x.yaml:6:5: this is not valid base64"},
      {"    call: POST /\n    base64: A*==\n", "this is not valid base64"},
      {"    call: {GET: /\n", "cases/x.yaml:"},
      {"    steps:\n      - {call: GET /}\n      - {expect: {status: 200}}\n", "cases/x.yaml:7:9"},
  };
  for (const auto& row : rows) {
    EXPECT_THAT(MistakeOfText(WithCase(row.lines)), HasSubstr(row.complaint)) << row.lines;
  }
  EXPECT_THAT(MistakeOfText("cases: {}"), HasSubstr("a map with a list `cases`"));
  EXPECT_THAT(MistakeOfText("cases:\n  - {id: a, sentence: b, call: GET /}\n"),
              HasSubstr("cases/x.yaml:2:5: 'rules' is missing"));
  EXPECT_THAT(MistakeOfText("cases:\n  - {id: a, sentence: b, rules: [rule.x], call: GET /}\n"),
              HasSubstr("no rule has the id 'rule.x'"));
}

TEST(Base64, GivesTheBytesBack) {
  EXPECT_EQ(FromBase64(""), "");
  EXPECT_EQ(FromBase64("TQ=="), "M");
  EXPECT_EQ(FromBase64("TWE="), "Ma");
  EXPECT_EQ(FromBase64("TWFu/+8A"), std::string("Man\xFF\xEF\0", 6));
  for (const char* none : {"T", "TQ", "TQ=", "T===", "TQ=a", "T Q="}) {
    EXPECT_EQ(FromBase64(none), std::nullopt) << none;
  }
}

TEST(CaseFile, ACaseIsOfOneApi) {
  const auto api_of = [](const char* lines) {
    return CasesOfText(WithCase(lines)).value().at(0).api;
  };
  EXPECT_EQ(api_of("    call: GET /\n"), "ml");
  EXPECT_EQ(api_of("    call: GET /\n    api: vertex\n"), "vertex");
}

// The differences between `expect` and a refusal with this message.
std::vector<Mismatch> MatchRefusal(const char* expect, const std::string& message) {
  const Json expectation = ExpectationOf({{"call", "POST /"}, {"expect", Json::parse(expect)}});
  const Json error = {{"code", 400}, {"status", "INVALID_ARGUMENT"}, {"message", message}};
  const Json seen = {{"status", 400}, {"body", {{"error", error}}}};
  return Match(expectation, &seen);
}

TEST(Found, IsTheWholeListOfViolations) {
  const std::string one = "List of found errors:\t1.Field: a[0].b; Message: It is.\t";
  const std::string two = one + "2.Field: c; Message: Not set.\t";
  const std::string empty = "List of found errors:\t1.Field: c; Message: \t";
  const auto fits = [](const char* expect, const std::string& message) {
    return MatchRefusal(expect, message).empty();
  };
  EXPECT_TRUE(fits(R"({"found": "a[0].b"})", one));
  EXPECT_TRUE(fits(R"({"found": "a[0].b", "because": "It is."})", one));
  EXPECT_TRUE(fits(R"({"found": ["a[0].b", {"found": "c", "because": "Not set."}]})", two));
  EXPECT_FALSE(fits(R"({"found": "a[0].b"})", two)) << "one violation too many";
  EXPECT_FALSE(fits(R"({"found": ["c", "a[0].b"]})", two)) << "in another order";
  EXPECT_FALSE(fits(R"({"found": "a0.b"})", one));
  EXPECT_FALSE(fits(R"({"found": "a[0].b", "because": "It isn."})", one));
  EXPECT_FALSE(fits(R"({"found": "c"})", empty));
}

TEST(CaseFile, ANameIsKnownOnceItWasSaved) {
  const std::string steps =
      "    steps:\n      - {call: GET /, save: {etag: /body/etag}}\n"
      "      - {call: \"GET /${etag}\"}\n";
  EXPECT_EQ(MistakeOfText(WithCase(steps)), "");
}

}  // namespace
}  // namespace conform
