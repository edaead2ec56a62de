"""The recorded exchanges, and how an answer of ours differs from a recorded one."""

import csv
import dataclasses
import json
import pathlib
import socket
import urllib.parse

HERE = pathlib.Path(__file__).parent
COMPARED_HEADERS = (
    "allow",
    "access-control-allow-origin",
    "access-control-allow-methods",
    "access-control-allow-headers",
    "access-control-max-age",
)
COMPARED_VALUES = {"done", "version", "template", "error"}
OPEN_ENDED = {"model_info"}  # which keys it has is compared by a test of its own


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Exchanged:
    """One answer."""

    status: int
    """HTTP status."""
    headers: dict[str, str]
    """Names in lower case."""
    body: bytes
    """Without chunks."""

    @property
    def records(self):
        """The JSON records, one a line."""
        return [json.loads(line) for line in self.body.decode().splitlines() if line.strip()]

    @property
    def text(self):
        """What the model said, from all records."""
        said = [record.get("message", {}).get("content") or record.get("response", "") for record in
                self.records]  # fmt: skip
        return "".join(said)


def names():
    """All recordings with a request, in the order in which they were made."""
    with (HERE / "INDEX.csv").open(encoding="utf-8", newline="") as file:
        return [row["name"] for row in csv.DictReader(file)]


def endpoint(name):
    """Method and path of a recorded request."""
    method, path, _ = request_bytes(name).split(b" ", 2)
    return f"{method.decode()} {path.decode()}"


def request_bytes(name):
    """A recorded request."""
    return (HERE / f"{name}.request.http").read_bytes()


def request_json(name):
    """The body of a recorded request."""
    return json.loads(request_bytes(name).partition(b"\r\n\r\n")[2])


def response(name):
    """The recorded answer."""
    path = HERE / f"{name}.response.http"
    if path.exists():
        return parsed(path.read_bytes())
    body = (HERE / f"{name}.trimmed.json").read_bytes()
    shown = {"content-type": "application/json; charset=utf-8"}
    return Exchanged(status=200, headers=shown, body=json.dumps(json.loads(body)).encode())


def send(url, name):
    """Send a recorded request, byte for byte, and read the answer to its end."""
    address = urllib.parse.urlsplit(url)
    with socket.create_connection((address.hostname, address.port), timeout=120) as wire:
        wire.sendall(request_bytes(name))
        return parsed(b"".join(iter(lambda: wire.recv(65536), b"")))


def parsed(answer):
    """An answer read from its bytes."""
    head, _, body = answer.partition(b"\r\n\r\n")
    lines = head.decode().split("\r\n")
    headers = {k.lower(): v for k, v in (line.split(": ", 1) for line in lines[1:])}
    if headers.get("transfer-encoding") == "chunked":
        body = b"".join(_dechunked(body))
    return Exchanged(status=int(lines[0].split(" ")[1]), headers=headers, body=body)


def _dechunked(body):
    while body:
        size, _, body = body.partition(b"\r\n")
        length = int(size, 16)
        yield body[:length]
        body = body[length + 2 :]


def signs(recorded, ours):
    """How our answer differs from the recorded one, a word or two for each difference."""
    if recorded.status != ours.status:
        return {f"status {recorded.status} -> {ours.status}"}
    found = {
        f"header {name}"
        for name in COMPARED_HEADERS
        if recorded.headers.get(name) != ours.headers.get(name)
    }
    theirs, mine = (each.headers.get("content-type", "none") for each in (recorded, ours))
    if theirs != mine:
        found.add(f"content-type {theirs} -> {mine}")
    if theirs.partition(";")[0] != mine.partition(";")[0]:
        return found
    if theirs.startswith("text/plain") or not recorded.body:
        return found | ({"text"} if recorded.body != ours.body else set())
    return found | _records(recorded.records, ours.records)


def _records(theirs, mine):
    if (len(theirs) > 1) != (len(mine) > 1):
        return {"stream"}
    found = _record("", theirs[-1], mine[-1])
    for record in mine[:-1]:
        found |= _record("", theirs[0], record)
    return found


def _record(path, theirs, mine):
    if isinstance(theirs, dict) and isinstance(mine, dict):
        return _object(path, theirs, mine)
    if isinstance(theirs, list) and isinstance(mine, list):
        return _array(path, theirs, mine)
    if type(theirs) is not type(mine):
        return {f"type of {path}"}
    return {f"value of {path}"} if path in COMPARED_VALUES and theirs != mine else set()


def _object(path, theirs, mine):
    inside = f"{path}." if path else ""
    if path in OPEN_ENDED:
        return set()
    if 1 in {theirs.get("eval_count"), mine.get("eval_count")}:  # one token has no duration
        theirs, mine = ({k: v for k, v in each.items() if k != "eval_duration"} for each in
                        (theirs, mine))  # fmt: skip
    found = {f"- {inside}{key}" for key in theirs.keys() - mine.keys()}
    found |= {f"+ {inside}{key}" for key in mine.keys() - theirs.keys()}
    shared = [key for key in theirs if key in mine]
    if shared != [key for key in mine if key in theirs]:
        found.add(f"order of {path or 'fields'}")
    for key in shared:
        found |= _record(f"{inside}{key}", theirs[key], mine[key])
    return found


def _array(path, theirs, mine):
    counts_differ = path == "models" and len(theirs) != len(mine)
    found = {"number of models"} if counts_differ else set()
    if theirs and not mine:
        return found | ({f"nothing in {path}"} if path != "models" else set())
    return found.union(*(_record(path, theirs[0], each) for each in mine)) if theirs else found
