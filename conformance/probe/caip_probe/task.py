"""Tells what a replica sees, and does what it is told to, so that a judge can look at both.

First it prints one line, `CAIP-PROBE {...}`: arguments, environment, working directory. Then it does
the words of --do, in order; `ROLE:word` only in replicas of that role (as in TF_CONFIG's task type,
or `ROLE-INDEX`), `once:word` only where this disk has not seen it yet:

  exit=N         leave with this status        signal=N   be killed by this signal
  out=TEXT       a line on standard output     err=TEXT   a line on standard error
  sleep=SECONDS  wait                          raise=TEXT an exception nobody catches
  ignore-term    be deaf to SIGTERM            on-term=N  leave with N when SIGTERM comes
  metric=TAG:V:S report V at step S, in the metric file, as cloudml-hypertune does
  lines=N        so many numbered lines        child      leave a process behind
  file=PATH      tell whether PATH exists, then write it

It runs on Python 2.7 and 3, and needs no other package.
"""

import json
import os
import signal
import sys
import time

NAMES = ('TF_CONFIG', 'CLUSTER_SPEC', 'HOSTNAME', 'HOME', 'LOG_FILE_TO_WRITE', 'TERMINATION_LOG',
         'ERROR_SENTINEL', 'TRACEBACK_FILE_PATH', 'PYTHONUNBUFFERED', 'OMP_NUM_THREADS')
PREFIXES = ('CLOUD_ML_', 'TPU_', 'KMP_', 'KUBE_', 'GOOGLE_')


def task():
    """This replica's role and index, by what the service says of it."""
    for name in ('TF_CONFIG', 'CLUSTER_SPEC'):
        try:
            spec = json.loads(os.environ.get(name, ''))['task']
            return spec.get('type', 'single'), spec.get('index', 0)
        except (ValueError, KeyError, TypeError):
            pass
    return 'single', 0


def parsed(name):
    try:
        return json.loads(os.environ[name])
    except (KeyError, ValueError):
        return None


def tell():
    seen = dict((name, value) for name, value in os.environ.items()
                if name in NAMES or name.startswith(PREFIXES))
    record = {'argv': sys.argv[1:], 'env': seen, 'cwd': os.getcwd(),
              'module': __name__ if __package__ is None else __package__,
              'names': sorted(os.environ), 'python': sys.version.split()[0], 'role': task()[0],
              'tf_config': parsed('TF_CONFIG'), 'cluster_spec': parsed('CLUSTER_SPEC')}
    sys.stdout.write('CAIP-PROBE ' + json.dumps(record, sort_keys=True) + '\n')
    sys.stdout.flush()


def report(text):
    """One entry of the metric file; the file is written anew each time, as the library does."""
    tag, value, step = text.rsplit(':', 2)
    path = os.environ.get('CLOUD_ML_HP_METRIC_FILE', '/tmp/hypertune/output.metrics')
    if not os.path.isdir(os.path.dirname(path)):
        os.makedirs(os.path.dirname(path))
    report.entries.append(json.dumps(
        {tag: str(float(value)), 'global_step': str(int(step)), 'timestamp': time.time(),
         'trial': os.environ.get('CLOUD_ML_TRIAL_ID', '0')}, sort_keys=True))
    with open(path, 'w') as metrics:
        metrics.write('\n'.join(report.entries[-100:]) + '\n')


report.entries = []


def say(stream, text):
    stream.write(text + '\n')
    stream.flush()


def leave_child():
    if os.fork() == 0:
        time.sleep(600)
        os._exit(0)


def touch(path):
    say(sys.stdout, 'file %s %s' % (path, 'exists' if os.path.exists(path) else 'is new'))
    with open(path, 'w') as made:
        made.write('x')


def raise_it(text):
    raise RuntimeError(text)


def leave_on_term(status):
    def leave(_number, _frame):
        say(sys.stdout, 'SIGTERM came')
        os._exit(int(status))
    signal.signal(signal.SIGTERM, leave)


def kill(number):
    sys.stdout.flush()
    os.kill(os.getpid(), int(number))
    time.sleep(60)


DEEDS = {
    'exit': lambda text: sys.exit(int(text)),
    'signal': kill,
    'out': lambda text: say(sys.stdout, text),
    'err': lambda text: say(sys.stderr, text),
    'sleep': lambda text: time.sleep(float(text)),
    'raise': raise_it,
    'ignore-term': lambda _: signal.signal(signal.SIGTERM, signal.SIG_IGN),
    'on-term': leave_on_term,
    'metric': report,
    'lines': lambda text: [say(sys.stdout, 'line %d' % number) for number in range(int(text))],
    'child': lambda _: leave_child(),
    'file': touch,
}


def first_time(word):
    mark = os.path.join(os.getcwd(), 'caip-probe-' + ''.join(c for c in word if c.isalnum()))
    if os.path.exists(mark):
        return False
    with open(mark, 'w') as made:
        made.write('x')
    return True


def meant(word):
    """The word without what limits it; None where it is not for us."""
    role, index = task()
    mine = (role, '%s-%s' % (role, index))
    aliases = {'master': ('chief', 'chief-0')}
    while ':' in word.split('=', 1)[0]:
        limit, word = word.split(':', 1)
        if limit == 'once':
            if not first_time(word):
                return None
        elif limit not in mine and not set(aliases.get(limit, ())) & set(mine):
            return None
    return word


def main(arguments):
    tell()
    for argument in arguments:
        if not argument.startswith('--do='):
            continue
        word = meant(argument[len('--do='):])
        if word is not None:
            name, _, text = word.partition('=')
            DEEDS[name](text)


if __name__ == '__main__':
    main(sys.argv[1:])
