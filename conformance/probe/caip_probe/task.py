"""Prints what a replica sees, and follows instructions, so that the judge can check both.

First it prints one line, `CAIP-PROBE {...}`: arguments, environment, working directory. Then it does
the words of --do, in order; `ROLE:word` only in replicas of that role (as in TF_CONFIG's task type,
or `ROLE-INDEX`), `trial-N:word` only in that trial, `once:word` only where this disk has not seen it
yet:

  exit=N         leave with this status        signal=N   be killed by this signal
  out=TEXT       a line on standard output     err=TEXT   a line on standard error
  sleep=SECONDS  wait                          raise=TEXT an exception nobody catches
  ignore-term    be deaf to SIGTERM            on-term=N  leave with N when SIGTERM comes
  metric=TAG:V:S report V at step S, in the metric file, as cloudml-hypertune does
  metric-line=TEXT  a line of the metric file as it stands
  lines=N        so many numbered lines        child      leave a process behind
  file=PATH      print whether PATH exists, then write it
  meet=N         wait until all N replicas of the job have printed what they see; meet=N:WORD if
                 no job id separates one run from another
  outlive        in the primary: wait until the replicas that it met have ended

It runs on Python 2.7 and 3, and needs no other package.
"""

import json
import os
import signal
import socket
import sys
import time

NAMES = ('TF_CONFIG', 'CLUSTER_SPEC', 'HOSTNAME', 'HOME', 'LOG_FILE_TO_WRITE', 'TERMINATION_LOG',
         'ERROR_SENTINEL', 'TRACEBACK_FILE_PATH', 'PYTHONUNBUFFERED', 'OMP_NUM_THREADS')
PREFIXES = ('AIP_', 'CLOUD_ML_', 'CONFORM_', 'TPU_', 'KMP_', 'KUBE_', 'GOOGLE_')


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
    """One entry of the metric file; rewrites the file each time, as the library does."""
    tag, value, step = text.rsplit(':', 2)
    report_line(json.dumps(
        {tag: str(float(value)), 'global_step': str(int(step)), 'timestamp': time.time(),
         'trial': os.environ.get('CLOUD_ML_TRIAL_ID', '0')}, sort_keys=True))


def report_line(line):
    path = os.environ.get('CLOUD_ML_HP_METRIC_FILE', '/tmp/hypertune/output.metrics')
    if not os.path.isdir(os.path.dirname(path)):
        os.makedirs(os.path.dirname(path))
    report.entries.append(line)
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


PATIENCE = 240  # seconds; a machine may take minutes to come
CONNECTIONS = {}     # what the primary replica keeps of those it met: {name: socket}


def primary_place():
    """Where the primary replica is, as (host, port), by what the service says of the cluster."""
    cluster = (parsed('TF_CONFIG') or parsed('CLUSTER_SPEC'))['cluster']
    host, port = (cluster.get('chief') or cluster['master'])[0].rsplit(':', 1)
    return host, int(port)


def listener(host, port):
    """None while another run on this host has the port."""
    for name in (host, ''):  # the name of a replica need not be an address of its own
        server = socket.socket()
        server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            server.bind((name, port))
            server.listen(128)
            server.settimeout(PATIENCE)
            return server
        except (OSError, socket.error):
            server.close()
    return None


def until_there(attempt):
    deadline = time.time() + PATIENCE
    while True:
        made = attempt()
        if made is not None:
            return made
        if time.time() > deadline:
            raise RuntimeError('meet: nothing came of %s in %d s' % (attempt.__name__, PATIENCE))
        time.sleep(0.02)


def receive_all(count, word):
    """The primary's part: it goes on only when everybody has spoken, as its end ends the others."""
    def open_listener():
        return listener(*primary_place())
    server = until_there(open_listener)
    CONNECTIONS.clear()
    while len(CONNECTIONS) < count - 1:
        try:
            connection, _ = server.accept()
        except socket.timeout:
            raise RuntimeError('meet: of %d only these came: %s' % (count - 1, sorted(CONNECTIONS)))
        connection.settimeout(PATIENCE)
        said = connection.recv(200).decode()
        if said.startswith(word + ' '):
            CONNECTIONS[said] = connection
        else:  # of another run on this host
            connection.close()
    server.close()
    for connection in CONNECTIONS.values():
        connection.sendall(b'met')


def visit(word):
    """Everybody else's part: says who it is, and stays until the primary has seen all."""
    def call():
        try:
            connection = socket.create_connection(primary_place(), 5)
            connection.settimeout(PATIENCE)
            connection.sendall(('%s %s-%s' % ((word,) + task())).encode())
            return connection if connection.recv(3) == b'met' else None
        except (OSError, socket.error):
            return None
    visit.kept = until_there(call)  # open for as long as we live


def meet(text):
    count, _, word = text.partition(':')
    word = word or '%s/%s' % (os.environ.get('CLOUD_ML_JOB_ID'), os.environ.get('CLOUD_ML_TRIAL_ID'))
    if task()[0] in ('chief', 'master'):
        receive_all(int(count), word)
    else:
        visit(word)


def outlive(_):
    for connection in CONNECTIONS.values():
        while connection.recv(100):
            pass


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
    'metric-line': report_line,
    'meet': meet,
    'outlive': outlive,
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
    mine = (role, '%s-%s' % (role, index), 'trial-' + os.environ.get('CLOUD_ML_TRIAL_ID', '0'))
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
