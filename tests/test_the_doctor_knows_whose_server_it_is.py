"""On a shared machine the doctor says whose program has the port, by the account's name."""

import os
import socket

import pytest

from tests.servers.scripted import Answer, Scripted, ollama_routes, unused_port
from twohalves import doctor
from twohalves.doctor import asking, port, server
from twohalves.doctor.listening import listener

HEAD = (
    "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout"
    " inode\n"
)
ACCOUNTS = (
    "root:x:0:0::/root:/bin/sh\nollama:x:997:997::/:/bin/false\nbob:x:1002:1002::/home/bob:/x\n"
)
# 11434 is 2CAA; the kernel writes each address in the machine's byte order
LISTENS = (
    "   0: 0100007F:2CAA 00000000:0000 0A 00000000:00000000 00:00000000 00000000  {}  0 77 1\n"
)
TALKS = "   1: 0100007F:2CAA 0100007F:8F00 01 00000000:00000000 00:00000000 00000000  1001 0 78 1\n"
OTHER = "   2: 00000000:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1003 0 79 1\n"
SIXES = (
    "   0: 00000000000000000000000000000000:2CAA 00000000000000000000000000000000:0000 0A"
    " 00000000:00000000 00:00000000 00000000  {}  0 77 1\n"
)


@pytest.fixture
def root(tmp_path):
    """A machine with accounts and no sockets."""
    (tmp_path / "proc" / "net").mkdir(parents=True)
    (tmp_path / "etc").mkdir()
    (tmp_path / "etc" / "passwd").write_text(ACCOUNTS, encoding="utf-8")
    (tmp_path / "proc" / "net" / "tcp").write_text(HEAD, encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize(
    ("user_id", "expected"),
    [
        (1002, ("bob", False, False)),
        (1001, ("number 1001", True, False)),
        (997, ("ollama", False, True)),
        (0, ("root", False, True)),
    ],
)
@pytest.mark.parametrize(("file", "row"), [("tcp", LISTENS), ("tcp6", SIXES)])
def test_the_owner_of_a_socket_is_named(root, file, row, user_id, expected):
    """Another's, one's own, and a service's; on IPv4 and on IPv6."""
    rows = HEAD + OTHER + TALKS + row.format(user_id)
    (root / "proc" / "net" / file).write_text(rows, encoding="utf-8")
    found = listener(11434, root, own_id=1001)

    assert expected == (found.user, found.is_own, found.is_service)
    assert found.process is None


def test_the_program_is_named_where_the_system_shows_it(root):
    """Of one's own processes the name is told too."""
    (root / "proc" / "net" / "tcp").write_text(HEAD + LISTENS.format(1001), encoding="utf-8")
    folder = root / "proc" / "4711" / "fd"
    folder.mkdir(parents=True)
    (folder / "3").symlink_to("socket:[77]")
    (folder.parent / "comm").write_text("ollama\n", encoding="utf-8")

    assert "ollama" == listener(11434, root, own_id=1001).process


@pytest.mark.parametrize("text", ["", HEAD, HEAD + OTHER + TALKS, "nonsense\n\x00\n0: x:y 1 0A\n"])
def test_nobody_is_made_up(root, text):
    """No socket on that port, or a table that cannot be read: not told."""
    (root / "proc" / "net" / "tcp").write_text(text, encoding="utf-8")

    assert listener(11434, root, own_id=1001) is None


def test_without_such_a_table_nothing_is_told(tmp_path):
    """Not a Linux, or hidden."""
    assert listener(11434, tmp_path) is None


def test_ones_own_listener_is_ones_own():
    """The real system, whatever it is: never taken for another's."""
    with socket.create_server(("127.0.0.1", 0)) as mine:
        found = listener(mine.getsockname()[1], doctor.Here().root)

    assert found is None or found.is_own is True


def test_another_accounts_ollama_is_said_by_name(root):
    """From the variables to the line that a student reads."""
    with Scripted(ollama_routes()) as running:
        row = LISTENS.format(1002).replace("2CAA", f"{running.port:04X}")
        (root / "proc" / "net" / "tcp").write_text(HEAD + row, encoding="utf-8")
        here = doctor.Here(environ={"OLLAMA_HOST": running.url}, root=root)
        found = server.judge_server(asking.who_answers(here))

    if os.getuid() == 1002:
        pytest.skip("this account has the number of the made-up one")
    assert "warn" == found.status
    assert f"Ollama 0.24.0 at {running.url} (account bob)" in found.says
    assert "ollama serve" in found.next_step("linux")


@pytest.mark.parametrize(
    ("greeting", "answer"),
    [
        (Answer(body="Ollama is running"), "ollama"),
        (Answer(body="Two Halves built-in server (llama.cpp) is running"), "builtin"),
        (Answer(status=404, body="<html>\nnot found"), "stranger"),
        (Answer(body="x", breaks_off=True), "stranger"),
    ],
)
def test_what_listens_on_the_port_is_told_apart(greeting, answer, tmp_path):
    """Ollama, our own server, and anything else by its first words."""
    with Scripted({"*": greeting}) as running:
        facts = port.port(doctor.Here(root=tmp_path), running.port)

    assert answer == facts.answer
    if greeting.status == 404:
        assert "status 404, '<html> not found'" == facts.said


def test_a_free_port_and_a_silent_one(tmp_path, monkeypatch):
    """Nobody listens; somebody listens and never answers."""
    monkeypatch.setattr(port, "_PATIENCE_S", 0.2)
    here = doctor.Here(root=tmp_path)
    assert "nobody" == port.port(here, unused_port()).answer
    with socket.create_server(("127.0.0.1", 0)) as silent:
        assert "silent" == port.port(here, silent.getsockname()[1]).answer


def test_something_that_speaks_no_http_is_a_stranger(tmp_path):
    """Bytes of another protocol are no reason to fall."""
    import threading

    with socket.create_server(("127.0.0.1", 0)) as odd:

        def speak():
            wire, _ = odd.accept()
            wire.recv(100)
            wire.sendall(b"SSH-2.0-x\r\n")
            wire.close()

        threading.Thread(target=speak, daemon=True).start()
        assert "stranger" == port.port(doctor.Here(root=tmp_path), odd.getsockname()[1]).answer
