#!/usr/bin/env python3
"""Faults of the network on real emulators, as trainers on machines see them."""

import scenario_case
import machines

CLUSTER = """
job:
  config: {scaleTier: CUSTOM, masterType: n1-standard-4, workerCount: 1, workerType: n1-standard-4}
"""

# The worker talks to the master by TCP and by datagrams. Where no answer is expected, it waits briefly.
PEERS = """
import select, socket
from cluster import Cluster, accept, wait_to_be_stopped
cluster = Cluster()
MASTER = cluster._address("master", 0)
WORKER = cluster._address("worker", 0)
datagrams = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
datagrams.bind(("0.0.0.0", 2222))

def attempt(act, *words):
    try:
        return act(*words)
    except OSError as error:
        return error.__class__.__name__

def call(patience, **message):
    # A message over a new connection, and its answer.
    with socket.create_connection(MASTER, patience) as link:
        link.settimeout(patience)
        link.sendall(json.dumps(message).encode() + b"\\n")
        return link.recv(100).decode().strip()

def serve():
    while True:
        peer = accept(server)
        message = peer.receive()
        peer.send(heard=message["step"])
        if message.get("last"):
            return message

if cluster.role == "master":
    server = cluster.listen()
else:
    cluster.connect("master").send(step=0)  # waits for the master
"""


class NetworkCase(scenario_case.Case):
    def setUp(self):
        super().setUp()
        machines.need(scenario_case.caip())

    def lines(self, events, replica="worker-0"):
        return [event["message"] for event in events
                if event["kind"] == "log" and event["replica"] == replica]


class Peers(NetworkCase):
    def steps(self, fault, brief):
        trainer = PEERS + f"""
if cluster.role == "master":
    serve()
    sys.exit()
for step in range(1, 5):
    patience = 0.5 if {brief} and step in (2, 3) else 60
    answer = attempt(lambda: call(patience, step=step, last=step == 4))
    say("%d: %s" % (step, answer))
    record(step)
wait_to_be_stopped()
"""
        _, events = self.play(trainer, CLUSTER + f"""
faults:
  - {fault}
    when: {{step: 1}}
expect: {{state: SUCCEEDED, steps: {{worker-0: "1..4"}}}}
""")
        return self.lines(events)

    def test_a_cut_begins_and_ends_at_its_triggers(self):
        self.assertEqual(
            self.steps("network_cut: {replica: worker-0, peer: master-0, until: {step: 3}}", True),
            ['1: {"heard": 1}', "2: TimeoutError", "3: TimeoutError", '4: {"heard": 4}'])

    def test_connections_are_refused(self):
        self.assertEqual(
            self.steps("network_refused: {replica: worker-0, peer: master-0, until: {step: 3}}", False),
            ['1: {"heard": 1}', "2: ConnectionRefusedError", "3: ConnectionRefusedError",
             '4: {"heard": 4}'])

    def test_a_cut_that_lasts_for_a_time_ends_by_itself(self):
        self.assertEqual(
            self.steps("network_cut: {replica: worker-0, peer: master-0, for: 300ms}", False),
            [f'{step}: {{"heard": {step}}}' for step in range(1, 5)])

    def test_one_direction_is_dropped(self):
        _, events = self.play(PEERS + """
def ask(step):
    datagrams.settimeout(0.5 if step == 2 else 60)
    datagrams.sendto(b"%d" % step, MASTER)
    while True:
        answer = datagrams.recv(100).decode()
        if answer == str(step):  # not a late answer to an earlier question
            return answer

if cluster.role == "master":
    for step in range(1, 4):
        question = datagrams.recv(100)
        say("heard " + question.decode())
        datagrams.sendto(question, WORKER)
    serve()
    sys.exit()
for step in range(1, 4):
    say("answer to %d: %s" % (step, attempt(ask, step)))
    record(step)
call(60, step=4, last=True)
wait_to_be_stopped()
""", CLUSTER + """
faults:
  - network_drop: {replica: master-0, peer: worker-0, until: {step: 2, replica: worker-0}}
    when: {step: 1, replica: worker-0}
expect: {state: SUCCEEDED}
""")
        self.assertEqual(self.lines(events), ["answer to 1: 1", "answer to 2: TimeoutError",
                                              "answer to 3: 3"])
        self.assertEqual(self.lines(events, "master-0"), ["heard 1", "heard 2", "heard 3"])

    def losses(self, seed):
        """The numbers of the datagrams that arrive, of 40."""
        trainer = PEERS + """
if cluster.role == "master":
    serve()  # until all datagrams have been sent
    heard = []
    while select.select([datagrams], [], [], 0)[0]:
        heard.append(datagrams.recv(100).decode())
    say(" ".join(heard))
    sys.exit()
record(1)
for number in range(40):
    datagrams.sendto(b"%d" % number, MASTER)
call(60, step=1, last=True)
wait_to_be_stopped()
"""
        _, events = self.play(trainer, CLUSTER + """
faults:
  - network_loss: {replica: worker-0, peer: master-0, fraction: 0.5}
    when: {step: 1}
expect: {state: SUCCEEDED}
""", "--seed", str(seed))
        return self.lines(events, "master-0")

    def test_the_seed_decides_which_packets_are_lost(self):
        first = self.losses(1)
        self.assertEqual(self.losses(1), first)
        self.assertNotEqual(self.losses(2), first)
        self.assertTrue(5 < len(first[0].split()) < 35, first)

    def test_packets_are_delayed(self):
        _, events = self.play(PEERS + """
if cluster.role == "master":
    serve()
    sys.exit()
record(1)
begin = time.monotonic()
call(60, step=2)
say("at least %s" % (time.monotonic() - begin >= 0.4))  # two round trips
call(60, step=3, last=True)
wait_to_be_stopped()
""", CLUSTER + """
faults:
  - network_delay: {replica: worker-0, peer: master-0, by: 100ms}
    when: {step: 1}
expect: {state: SUCCEEDED}
""")
        self.assertEqual(self.lines(events), ["at least True"])


class Storage(NetworkCase):
    UPLOADS = """
import socket
for step in range(1, 5):
    if BRIEF: socket.setdefaulttimeout(0.5 if step in (2, 3) else 60)
    try:
        answer = upload("object-%d" % step)[0]
    except OSError as error:
        answer = getattr(error, "reason", error).__class__.__name__
    say("%d: %s" % (step, answer))
    record(step)
"""

    def uploads(self, fault, brief):
        said, _ = self.play(self.UPLOADS.replace("BRIEF", str(brief)), f"""
faults:
  - {fault}
    when: {{step: 1}}
expect: {{state: SUCCEEDED, steps: {{master-0: "1..4"}}}}
""")
        return said

    def test_it_is_cut_off(self):
        self.assertEqual(
            self.uploads("network_cut: {replica: master-0, peer: storage, until: {step: 3}}", True),
            ["1: 200", "2: TimeoutError", "3: TimeoutError", "4: 200"])

    def test_it_is_cut_off_at_the_address_of_the_host(self):
        said, _ = self.play("""
import socket
port = int(BASE.rsplit(":", 1)[1].strip("/"))
for step in range(1, 4):
    try:
        socket.create_connection(("host.caip.internal", port), 0.5 if step == 2 else 60).close()
        say("%d: connected" % step)
    except OSError as error:
        say("%d: %s" % (step, error.__class__.__name__))
    record(step)
""", """
faults:
  - network_cut: {replica: master-0, peer: storage, until: {step: 2}}
    when: {step: 1}
expect: {state: SUCCEEDED}
""")
        self.assertEqual(said, ["1: connected", "2: TimeoutError", "3: connected"])

    def test_it_refuses_connections(self):
        self.assertEqual(
            self.uploads("network_refused: {replica: master-0, peer: storage, until: {step: 3}}",
                         False),
            ["1: 200", "2: ConnectionRefusedError", "3: ConnectionRefusedError", "4: 200"])

    def read_at(self, fault, patience):
        """What a read gets at which the fault begins, what the next request gets, and one after the fault."""
        said, _ = self.play(f"""
import socket
def attempt(act, *words):
    try:
        return act(*words)[0]
    except OSError as error:
        return getattr(error, "reason", error).__class__.__name__

upload("object")
socket.setdefaulttimeout({patience})
say("the read: %s" % attempt(download, "object"))
socket.setdefaulttimeout(0.5)
say("the next: %s" % attempt(upload, "second"))
record(1)
socket.setdefaulttimeout(60)
say("the last: %s" % attempt(upload, "third"))
""", f"""
faults:
  - {fault}
    when: {{before: {{read: job/object}}}}
expect: {{state: SUCCEEDED, objects: {{present: [job/third], absent: [job/second]}}}}
""")
        return said

    def test_packets_to_it_are_dropped_and_its_own_arrive(self):
        self.assertEqual(self.read_at("network_drop: {replica: master-0, peer: storage, until: {step: 1}}", 60),
                         ["the read: 200", "the next: TimeoutError", "the last: 200"])
        self.assertEqual(self.read_at("network_cut: {replica: master-0, peer: storage, until: {step: 1}}", 0.5),
                         ["the read: TimeoutError", "the next: TimeoutError", "the last: 200"])

    def test_its_answers_are_late(self):
        said, _ = self.play("""
record(1)
begin = time.monotonic()
say("%d, at least %s" % (upload("object")[0], time.monotonic() - begin >= 0.4))  # two round trips
record(2)
say("%d" % upload("another")[0])
""", """
faults:
  - network_delay: {replica: master-0, peer: storage, by: 100ms, until: {step: 2}}
    when: {step: 1}
expect: {state: SUCCEEDED, objects: {present: [job/object, job/another]}}
""")
        self.assertEqual(said, ["200, at least True", "200"])

    def test_lost_packets_are_sent_again(self):
        said, _ = self.play("""
record(1)
for number in range(4):
    say("%d" % upload("object-%d" % number, b"%d" % number * 100_000)[0])
""", """
faults:
  - network_loss: {replica: master-0, peer: storage, fraction: 0.1}
    when: {step: 1}
expect: {state: SUCCEEDED, same_objects_as_twin: {}}
""")
        self.assertEqual(said, ["200"] * 4)

    def echoes(self, seed):
        """The numbers of the echo requests to storage that are answered, of 40."""
        said, _ = self.play("""
import socket, struct
HOST = socket.gethostbyname(BASE.split("/")[2].split(":")[0])
link = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP)
link.settimeout(60)

def request(number):
    parts = (0x0800, 0x4341, number)
    total = sum(parts)
    link.sendto(struct.pack("!HHHH", 0x0800, ~(total + (total >> 16)) & 0xffff, *parts[1:]), (HOST, 0))

def answers(last):
    while True:
        kind, _, _, name, number = struct.unpack("!BBHHH", link.recv(100)[20:28])
        if (kind, name) != (0, 0x4341):
            continue
        if number == last:
            return
        yield number

record(1)
for number in range(40):
    request(number)
record(2)  # the fault is over, so the last request is answered
request(99)
say(" ".join(map(str, answers(99))))
""", """
faults:
  - network_loss: {replica: master-0, peer: storage, fraction: 0.3, until: {step: 2}}
    when: {step: 1}
expect: {state: SUCCEEDED}
""", "--seed", str(seed))
        return said[0].split()

    def test_the_seed_decides_which_packets_are_lost(self):
        first = self.echoes(1)
        self.assertTrue(5 < len(first) < 35, first)
        self.assertEqual(self.echoes(1), first)
        self.assertNotEqual(self.echoes(2), first)

    def test_it_resets_open_connections(self):
        said, _ = self.play("""
link = http.client.HTTPConnection(BASE.split("/")[2], timeout=60)

def listing():
    link.request("GET", "/storage/v1/b/job")
    answer = link.getresponse()
    answer.read()
    return answer.status

say("%d" % listing())
record(1)
try:
    say("%d" % listing())
except OSError as error:
    say(error.__class__.__name__)
""", """
faults:
  - network_refused: {replica: master-0, peer: storage}
    when: {step: 1}
expect: {state: SUCCEEDED}
""")
        self.assertEqual(said, ["200", "ConnectionResetError"])

    def test_a_new_machine_is_still_cut_off(self):
        _, events = self.play("""
import socket
from urllib.request import Request, urlopen

def metadata():
    return urlopen(Request("http://metadata.google.internal/computeMetadata/v1/instance/id",
                           headers={"Metadata-Flavor": "Google"}), timeout=60).status

record(1)
socket.setdefaulttimeout(0.5)
try:
    upload("object")
    say("reached")
except OSError:
    say("cut off, metadata answers %d" % metadata())
record(2)
""", """
faults:
  - name: cut
    network_cut: {replica: master-0, peer: storage}
    when: {step: 1}
  - kill: {replica: master-0}
    when: {fault: cut}
expect: {state: SUCCEEDED, restarts: {master-0: 1}}
""")
        self.assertEqual(self.lines(events, "master-0"), ["cut off, metadata answers 200"])


class Processes(scenario_case.Case):
    def test_they_cannot_have_faults_of_the_network(self):
        self.use_processes()
        code, text, _, _ = self.run_scenario(self.scenario("record(1)\n", """
faults:
  - network_cut: {replica: master-0, peer: storage}
    when: {step: 1}
"""))
        self.assertEqual(code, 3, text)
        self.assertIn("Fault 'network_cut 1' cannot be injected, because replicas are processes", text)


if __name__ == "__main__":
    scenario_case.main()
