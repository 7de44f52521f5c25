"""The arguments of a job, checked as a whole before any work: type, range and default of each."""
import math

REQUIRED = object()
NAMES_OF_TYPES = {int: "an integer", float: "a number"}


class ArgumentFaults(Exception):
    """All that is wrong with the arguments, a sentence each."""

    def __init__(self, faults):
        super().__init__("\n".join(faults))
        self.faults = faults


class Argument:
    """A setting of an algorithm. `kind`: int, float, str, bool (a flag) or a function that returns the value or
    raises ValueError with the rule. `least` and `most` belong to the range unless `open` has "(" or ")"."""

    def __init__(self, name, kind, default, choices=None, least=None, most=None, open="", aliases=()):
        self.name, self.kind, self.default, self.choices = name, kind, default, choices
        self.least, self.most, self.open, self.aliases = least, most, open, aliases

    def read(self, text):
        """The value; a ValueError has the rule."""
        if self.kind is bool:
            if text.lower() in ("", "true", "1"):
                return True
            if text.lower() in ("false", "0"):
                return False
            raise ValueError("It is a flag: give it without a value, or with true or false")
        if self.choices:
            if text not in self.choices:
                raise ValueError("Use %s or %s" % (", ".join(self.choices[:-1]), self.choices[-1]))
            return text
        if self.kind in (int, float):
            return self._number(text)
        return self.kind(text)

    def _number(self, text):
        try:
            value = self.kind(float(text)) if self.kind is float or float(text).is_integer() else None
        except (ValueError, OverflowError):
            value = None
        fits = value is not None and math.isfinite(value) and \
            (self.least is None or value > self.least or (value == self.least and "(" not in self.open)) and \
            (self.most is None or value < self.most or (value == self.most and ")" not in self.open))
        if not fits:
            raise ValueError("Use " + NAMES_OF_TYPES[self.kind] + self._range())
        return value

    def _range(self):
        bounds = []
        if self.least is not None:
            bounds.append("above %g" % self.least if "(" in self.open else "of %g or more" % self.least)
        if self.most is not None:
            bounds.append("below %g" % self.most if ")" in self.open else "of %g or less" % self.most)
        return " " + " and ".join(bounds) if bounds else ""


class Values:
    """The settings in force, by name; `given` has the names that the job sets."""

    def __init__(self, values, given):
        self.__dict__.update(values)
        self.given = given

    def shown(self):
        values = {name: value for name, value in vars(self).items() if name != "given"}
        return " ".join("--%s=%s" % pair for pair in sorted(values.items()) if pair[1] not in (None, ""))


DATA = [
    Argument("training_data_path", str, REQUIRED),
    Argument("validation_data_path", str, ""),
    Argument("test_data_path", str, ""),
    Argument("job_dir", str, REQUIRED, aliases=("job-dir",)),
]
SPLITS = [
    Argument("preprocess", bool, False),
    Argument("validation_split", float, 0.20, least=0, most=0.4),
    Argument("test_split", float, 0.20, least=0, most=0.4),
]


def check_paths(arguments):
    """The rules between the arguments that name data; texts of what is wrong."""
    wrong = []
    if not arguments.preprocess and not arguments.validation_data_path:
        wrong.append("--validation_data_path is missing. It is required without --preprocess.")
    if arguments.test_data_path and not arguments.validation_data_path and arguments.preprocess:
        wrong.append("--validation_data_path is missing. It is required with --test_data_path.")
    if arguments.preprocess and arguments.validation_split + arguments.test_split > 0.4 + 1e-9:
        wrong.append("--validation_split=%g and --test_split=%g are too large. Their sum may be 0.40 at most." %
                     (arguments.validation_split, arguments.test_split))
    return wrong


def _tokens(words, known):
    """Pairs of name and text, and faults. The text of a flag without a value is empty."""
    pairs, faults, at = [], [], 0
    while at < len(words):
        word = words[at]
        at += 1
        if not word.startswith("--"):
            faults.append("'%s' is not an argument. Write --name=value or --name value." % word)
            continue
        name, equals, text = word[2:].partition("=")
        argument = known.get(name)
        if argument is None:
            faults.append("--%s is not an argument of this algorithm. Use %s." % (
                name, ", ".join(sorted("--" + one.name for one in set(known.values())))))
            if not equals and at < len(words) and not words[at].startswith("--"):
                at += 1
            continue
        if not equals and argument.kind is not bool:
            if at == len(words) or words[at].startswith("--"):
                faults.append("--%s has no value. Write --%s=VALUE." % (name, name))
                continue
            text = words[at]
            at += 1
        pairs.append((argument, text))
    return pairs, faults


def parse(words, table, check=None):
    """The Values of a command line. The last one of a repeated argument counts: a trial's come last. `check` returns
    what is wrong between values that are good by themselves. Raises ArgumentFaults with all faults."""
    known = {name: argument for argument in table for name in (argument.name, *argument.aliases)}
    pairs, faults = _tokens(words, known)
    values = {argument.name: argument.default for argument in table}
    given = {}
    for argument, text in pairs:
        given[argument.name] = (argument, text)
    for name, (argument, text) in given.items():
        try:
            values[name] = argument.read(text)
        except ValueError as error:
            faults.append("--%s=%s is not valid. %s." % (name, text, error))
    missing = [argument.name for argument in table if argument.default is REQUIRED and argument.name not in given]
    faults += ["--%s is missing. The argument is required." % name for name in missing]
    result = Values(values, set(given))
    if check and not missing:
        faults += check(result)
    if faults:
        raise ArgumentFaults(faults)
    return result
