#pragma once
// All texts of the judge about mistakes and failures.

#include <set>
#include <string>

#include "conformance/result.h"

namespace conform::problems {

// Files.
Problem AtPlace(const std::string& file, int line, int column, const std::string& message,
                const std::string& text);
Problem FileUnreadable(const std::string& file);
Problem FileUnwritable(const std::string& file);
Problem ReportUnwritable(const std::string& option, const std::string& file);
/// Both options ask for a report on standard output.
Problem ReportsPrinted(const std::string& first, const std::string& second);
std::string DuplicateKey(const std::string& key);

// Case files. Each text is shown with its place.
std::string FileWithoutCases();
std::string CaseNotMap();
std::string WordUnknown(const std::string& word, const std::set<std::string>& known);
std::string WordMissing(const std::string& word);
std::string StepWithoutKind();
std::string Base64Invalid();
std::string ExpectationUnknown(const std::string& word);
std::string MatcherUnknown(const std::string& name);
std::string MatcherRequiresList(const std::string& name);
std::string MatcherRequiresText(const std::string& name);
std::string MatcherNotAlone(const std::string& name);
std::string RegexBroken(const std::string& pattern, const std::string& why);
std::string TableWithoutRows();
std::string RowLength(size_t got, size_t wanted);
std::string RowNotMap();
std::string EachNotList(const std::string& name);
std::string DuplicateId(const std::string& id);
std::string DuplicateIdIn(const std::string& id, const std::string& other);
std::string RuleUnknown(const std::string& rule);
std::string NameUnknown(const std::string& name);
Problem NoCases(const std::string& folder);

// Rules and targets.
std::string RulesWithoutPage();
std::string RuleNotSentence();
Problem NoRules(const std::string& folder);
std::string MissWithoutReason();
Problem MissMatchesNothing(const std::string& file, int line, const std::string& glob);

// Endpoints.
Problem UrlInvalid(const std::string& text);
Problem AnswerTimeout(const std::string& where, const std::string& what, long milliseconds);
Problem AnswerTooLong(const std::string& where, size_t max);
Problem ConnectionClosed(const std::string& where, const std::string& what);
Problem WireFailed(const std::string& where, const std::string& what, const std::string& why);
Problem CertificateNotTrusted(const std::string& name, const std::string& why);
Problem AuthorityUnreadable(const std::string& file, const std::string& why);
Problem NotTheService(const std::string& where, bool is_vertex, int status,
                      const std::string& body);
Problem AccessRefused(const std::string& where, int status, const std::string& body);
Problem PackageNotUploaded(const std::string& bucket, int status, const std::string& body);
Problem EmulatorNotStarted(const std::string& program, const std::string& log);
Problem CannotListen(const std::string& why);

// A running case.
std::string Differs(const std::string& expected, const std::string& actual);
Problem NameWithoutValue(const std::string& name);
Problem JobUnknown(const std::string& name);
Problem JobPathBroken(const std::string& why);
Problem JobNotReadable(const std::string& id, int status);
Problem JobTimeout(const std::string& id, const std::string& state, const std::string& wanted,
                   long milliseconds);
Problem JobEndedOtherwise(const std::string& id, const std::string& state,
                          const std::string& wanted, const std::string& message);
Problem JobRefused(int status, const std::string& body);
Problem LogsNotReadable(int status);
Problem ProgramNotStarted(const std::string& program, const std::string& why);
Problem CommandTimeout(const std::string& program);
std::string StepNotMet(const std::string& kind);
std::string GivenNotMet(const std::string& why);
std::string NothingToSave(const std::string& name, const std::string& pointer);
std::string AnswerUnexpected(const std::string& why);
std::string NeedMissing(const std::string& need);
std::string PassedAlthoughListed(int line, const std::string& reason);

// The command line.
std::string NoCaseChosen();
std::string CommandMissing();
std::string ShardBroken(const std::string& text);
std::string SettingBroken(const std::string& text);

}  // namespace conform::problems
