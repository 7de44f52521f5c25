#pragma once
// Every text of the judge that tells of something wrong is made here.

#include <set>
#include <string>

#include "conformance/result.h"

namespace conform::problems {

// Of files.
Problem AtPlace(const std::string& file, int line, int column, const std::string& message,
                const std::string& text);
Problem FileUnreadable(const std::string& file);
Problem FileUnwritable(const std::string& file);
std::string KeyTwice(const std::string& key);

// Of case files; each is told with its place.
std::string FileWithoutCases();
std::string CaseNoMap();
std::string WordUnknown(const std::string& word, const std::set<std::string>& known);
std::string WordMissing(const std::string& word);
std::string StepWithoutKind();
std::string NoBase64();
std::string ExpectationUnknown(const std::string& word);
std::string MatcherUnknown(const std::string& name);
std::string MatcherWantsList(const std::string& name);
std::string MatcherWantsText(const std::string& name);
std::string MatcherBesideOthers(const std::string& name);
std::string RegexBroken(const std::string& pattern, const std::string& why);
std::string TableWithoutRows();
std::string RowLength(size_t got, size_t wanted);
std::string RowNoMap();
std::string EachNoList(const std::string& name);
std::string IdTwice(const std::string& id);
std::string IdTwiceIn(const std::string& id, const std::string& other);
std::string RuleUnknown(const std::string& rule);
std::string NameUnknown(const std::string& name);
Problem NoCases(const std::string& folder);

// Of rules and targets.
std::string RulesWithoutPage();
std::string RuleNoSentence();
Problem NoRules(const std::string& folder);
std::string MissWithoutReason();
Problem MissNamesNothing(const std::string& file, int line, const std::string& glob);

// Of endpoints.
Problem NoUrl(const std::string& text);
Problem Silent(const std::string& where, const std::string& what, long milliseconds);
Problem BodyEndless(const std::string& where, size_t max);
Problem HungUp(const std::string& where, const std::string& what);
Problem WireFailed(const std::string& where, const std::string& what, const std::string& why);
Problem CertificateNotBelieved(const std::string& name, const std::string& why);
Problem AuthorityUnreadable(const std::string& file, const std::string& why);
Problem NotTheService(const std::string& where, int status, const std::string& body);
Problem NotLetIn(const std::string& where, int status, const std::string& body);
Problem PackageNotSent(const std::string& bucket, int status, const std::string& body);
Problem EmulatorNotStarted(const std::string& program, const std::string& log);
Problem CannotListen(const std::string& why);

// Of a running case.
std::string Differs(const std::string& expected, const std::string& actual);
Problem NameWithoutValue(const std::string& name);
Problem JobUnknown(const std::string& name);
Problem JobPathBroken(const std::string& why);
Problem JobNotThere(const std::string& id, int status);
Problem JobNotInTime(const std::string& id, const std::string& state, const std::string& wanted,
                     long milliseconds);
Problem JobEndedOtherwise(const std::string& id, const std::string& state,
                          const std::string& wanted, const std::string& message);
Problem JobRefused(int status, const std::string& body);
Problem LogsNotThere(int status);
Problem ProgramNotStarted(const std::string& program, const std::string& why);
Problem CommandLate(const std::string& program);
std::string StepNotMet(const std::string& kind);
std::string GivenNotMet(const std::string& why);
std::string NothingToSave(const std::string& name, const std::string& pointer);
std::string ShapeUnforeseen(const std::string& why);
std::string NeedMissing(const std::string& need);
std::string PassedThoughListed(int line, const std::string& reason);

// Of the command line.
std::string NoCaseChosen();
std::string CommandWanted();
std::string ShardBroken(const std::string& text);
std::string SettingBroken(const std::string& text);

}  // namespace conform::problems
