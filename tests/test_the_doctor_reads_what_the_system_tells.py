"""Limits, power, mounts and kinds of machine are read from what the system tells, or not at all."""

import errno
import pathlib
import subprocess

import pytest

from tests.servers.scripted import Scripted, ollama_routes
from twohalves import doctor
from twohalves.doctor import disk, folder, installed, machine, place, programs
from twohalves.doctor.limits import limits


def _write(root, **files):
    for name, text in files.items():
        path = root / name.replace("__", "/").replace("_DOT_", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return root


def test_a_container_of_today_tells_its_limits(tmp_path):
    """Control groups of version 2; the tightest of all groups above counts."""
    _write(
        tmp_path,
        proc__self__cgroup="0::/outer/inner\n",
        sys__fs__cgroup__outer__cpu_DOT_max="250000 100000\n",
        sys__fs__cgroup__outer__inner__cpu_DOT_max="max 100000\n",
        sys__fs__cgroup__outer__memory_DOT_max="4294967296\n",
        sys__fs__cgroup__outer__memory_DOT_current="1073741824\n",
        sys__fs__cgroup__outer__inner__memory_DOT_max="max\n",
        sys__fs__cgroup__outer__inner__memory_DOT_current="1000\n",
    )
    found = limits(tmp_path)

    assert 2.5 == found.cpus
    assert (4 * 2**30, 2**30) == (found.memory_bytes, found.memory_used_bytes)


def test_a_container_of_old_tells_its_limits(tmp_path):
    """Control groups of version 1, where no limit is a very large number."""
    groups = "5:cpu,cpuacct:/docker/x\n4:memory:/\n"
    _write(tmp_path, proc__self__cgroup=groups)
    _write(
        tmp_path / "sys" / "fs" / "cgroup",
        **{
            "cpu__docker__x__cpu.cfs_quota_us": "150000\n",
            "cpu__docker__x__cpu.cfs_period_us": "100000\n",
            "memory__memory.limit_in_bytes": "9223372036854771712\n",
            "memory__memory.usage_in_bytes": "1000\n",
        },
    )
    found = limits(tmp_path)

    assert 1.5 == found.cpus
    assert found.memory_bytes is None


@pytest.mark.parametrize(
    ("limit", "usage", "stat"),
    [
        ("memory.max", "memory.current", "anon 7\ninactive_file 600\nactive_file 9\n"),
        ("memory.limit_in_bytes", "memory.usage_in_bytes", "cache 9\ntotal_inactive_file 600\n"),
    ],
)
def test_copies_of_files_are_not_memory_in_use(tmp_path, limit, usage, stat):
    """After an installation a container is full of them, and all of it can be had."""
    group = tmp_path / "sys" / "fs" / "cgroup" / "memory" / "x"
    _write(tmp_path, proc__self__cgroup="1:memory:/x\n")
    _write(group, **{limit: "1000\n", usage: "900\n", "memory.stat": stat})
    found = limits(tmp_path)

    assert (1000, 300) == (found.memory_bytes, found.memory_used_bytes)


@pytest.mark.parametrize("text", ["", "0::/\n", "nonsense", "0::/../..\n", "\x00\n"])
def test_without_limits_none_is_told(tmp_path, text):
    """Nor are any made up from a file that cannot be read."""
    _write(tmp_path, proc__self__cgroup=text)
    found = limits(tmp_path)

    assert (None, None, None) == (found.cpus, found.memory_bytes, found.memory_used_bytes)


def test_memory_is_the_least_of_machine_and_container(tmp_path):
    """What a container still allows counts where it is less than what is free."""
    _write(
        tmp_path,
        proc__meminfo="MemTotal:       8388608 kB\nMemAvailable:   6291456 kB\nHugePages: 0\n",
        proc__self__cgroup="0::/\n",
        sys__fs__cgroup__memory_DOT_max=f"{2 * 2**30}\n",
        sys__fs__cgroup__memory_DOT_current=f"{2**30}\n",
    )
    facts = machine.memory(doctor.Here(root=tmp_path))

    assert machine.MemoryFacts(available=2**30, total=8 * 2**30, limit=2 * 2**30) == facts
    assert "limited to 2.0 GiB" in machine.judge_memory(facts).says


@pytest.mark.parametrize(
    ("driver", "governor", "preference", "expected"),
    [
        ("intel_pstate", "powersave", "balance_performance", None),
        ("intel_pstate", "powersave", "power", "preference power"),
        ("amd-pstate-epp", "powersave", "performance", None),
        ("acpi-cpufreq", "powersave", "", "governor powersave"),
        ("acpi-cpufreq", "schedutil", "", None),
    ],
)
def test_powersave_is_not_always_saving(tmp_path, driver, governor, preference, expected):
    """With two drivers that name is the usual state."""
    values = {
        "scaling_driver": driver,
        "scaling_governor": governor,
        "energy_performance_preference": preference,
    }
    for name, value in values.items():
        _write(tmp_path / "sys/devices/system/cpu/cpu0/cpufreq", **{name: f"{value}\n"})

    assert expected == machine.saving(tmp_path)


MOUNTS = """\
/dev/sda1 / ext4 rw 0 0
fs:/home /home nfs4 rw 0 0
/dev/sdb1 /home/ana/local\\040disk xfs rw 0 0
C:\\134 /mnt/c 9p rw 0 0
"""


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/srv/p", None),
        ("/home/ana/p", "nfs4"),
        ("/homely/p", None),
        ("/home/ana/local disk/p", None),
        ("/mnt/c/Users/ana", "9p"),
        ("\\\\server\\share\\p", "smb"),
    ],
)
def test_a_folder_on_the_network_is_recognized(path, expected):
    """By the mount that is nearest above it."""
    assert expected == folder.network_kind(path, MOUNTS)


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        (pathlib.PureWindowsPath(r"C:\Users\ana\OneDrive - Uni\p"), "OneDrive"),
        (pathlib.PurePosixPath("/Users/ana/Library/Mobile Documents/p"), "iCloud"),
        (pathlib.PurePosixPath("/Users/ana/Library/CloudStorage/Box/p"), "a cloud drive"),
        (pathlib.PurePosixPath("/home/ana/Dropbox/Žofie Übung #1"), "Dropbox"),
        (pathlib.PurePosixPath("/home/ana/Žofie Übung #1 (測)"), None),
        (pathlib.PurePosixPath("/home/ana/my dropbox notes"), None),
    ],
)
def test_a_synchronized_folder_is_recognized(path, expected):
    """By the names above it; spaces and umlauts are nothing special."""
    assert expected == folder.synced_by(path)


def test_a_quota_is_read_in_bytes():
    """The tightest of several file systems, an excess marked with a star, and no limit at all."""
    said = """\
Disk quotas for user ana (uid 1000):
     Filesystem  blocks   quota   limit   grace   files   quota   limit   grace
      /dev/sda1  100      0       0               5       0       0
      fs:/home   900*     800     1000    6days   7       0       0
      fs:/work   10       5000    6000            7       0       0
"""
    found = disk.read_quota(said)

    assert (900 * 1024, 800 * 1024) == (found.used_bytes, found.limit_bytes)
    assert disk.read_quota("Disk quotas for user ana (uid 1000): none\n") is None


@pytest.mark.parametrize(
    ("version", "expected"),
    [
        ("Linux version 5.15.1-microsoft-standard-WSL2 (gcc)", "WSL 2"),
        ("Linux version 4.4.0-19041-Microsoft (Microsoft@Microsoft.com)", "WSL 1"),
        ("Linux version 6.8.0-generic (buildd@x)", None),
    ],
)
def test_wsl_is_recognized(tmp_path, version, expected):
    """Both versions, by what their kernels call themselves."""
    assert expected == place.wsl(_write(tmp_path, proc__version=version))


def test_a_container_is_recognized(tmp_path):
    """By its marks; a machine of one's own has none."""
    assert place.container(tmp_path, "") is None
    assert "a container (podman)" == place.container(tmp_path, "podman")
    assert "a container" == place.container(_write(tmp_path, _DOT_dockerenv=""), "")


def test_the_way_out_is_the_computer_outside(tmp_path):
    """The gateway as the kernel writes it, backwards in hexadecimal."""
    route = (
        "Iface\tDestination\tGateway\tFlags\neth0\t00000000\t010014AC\t0003\neth0\t0014AC\tx\t1\n"
    )

    assert ["172.20.0.1"] == place.gateways(_write(tmp_path, proc__net__route=route))
    assert [] == place.gateways(tmp_path / "nowhere")


def test_an_ollama_outside_the_container_is_found(tmp_path, monkeypatch):
    """In a container with nobody inside, the computer outside is asked."""
    route = "Iface\tDestination\tGateway\neth0\t00000000\t0200007F\n"
    root = _write(tmp_path, proc__net__route=route, _DOT_dockerenv="")
    monkeypatch.setattr(place, "_DOCKER_HOST", "127.0.0.3")
    with Scripted(ollama_routes(), host="127.0.0.2") as outside:
        monkeypatch.setattr(place, "OLLAMA", outside.port)
        found = place.judge_outside(place.outside(doctor.Here(environ={}, root=root)))
        named = place.outside(doctor.Here(environ={"OLLAMA_HOST": "x"}, root=root))

    assert "warn" == found.status
    assert f"http://127.0.0.2:{outside.port}" in found.next_step("linux")
    assert "ok" == place.judge_outside(named).status


def test_a_moved_environment_is_recognized_and_not_touched(tmp_path):
    """A .venv that was made elsewhere: the reason and the fix, and everything stays."""
    python = tmp_path / ".venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.symlink_to("/nowhere/python3.11")
    found = installed.judge_venv(installed.venv(doctor.Here(project=tmp_path)))

    assert "fail" == found.status
    assert "clean --venv" in found.next_step("linux")
    assert "py -m twohalves clean --venv" in found.next_step("windows")
    assert python.is_symlink()


def test_one_package_is_no_environment(tmp_path, monkeypatch):
    """A Python into which only `ollama` was installed by hand has not what a notebook needs."""
    pins = "httpx>=0.27\nollama>=0.4\n"
    (tmp_path / "requirements-hosted.txt").write_text(pins, encoding="utf-8")
    for there, enough in (({"ollama"}, False), ({"httpx", "ollama"}, True)):
        versions = dict.fromkeys(there, "1.0")
        monkeypatch.setattr(installed, "version_of", versions.get)
        assert enough == installed.venv(doctor.Here(project=tmp_path)).has_packages


def test_both_folders_that_are_written_to_are_tried(tmp_path, monkeypatch):
    """The project's own, where .venv goes, and that of the runs: one line names the one."""
    (tmp_path / "data" / "runs").mkdir(parents=True)
    real = disk._write_error
    for refused in (tmp_path, tmp_path / "data" / "runs"):
        error = PermissionError(errno.EACCES, "Permission denied")
        monkeypatch.setattr(
            disk, "_write_error", lambda folder, no=refused, e=error: e if folder == no else None
        )
        found = disk.judge_disk(disk.disk(doctor.Here(project=tmp_path)))
        assert "fail" == found.status
        assert found.says == f"{refused} takes no files: Permission denied"
    monkeypatch.setattr(disk, "_write_error", real)
    assert "ok" == disk.judge_disk(disk.disk(doctor.Here(project=tmp_path))).status


def test_a_quarto_that_does_not_run_is_told_from_none(tmp_path):
    """A program that ends with an error, or is no program."""
    program = tmp_path / "quarto"
    program.write_text("#!/bin/sh\nexit 3\n", encoding="utf-8")
    program.chmod(0o755)
    facts = programs.renderer(doctor.Here(environ={"PATH": str(tmp_path)}))

    assert str(program) == facts.quarto
    assert facts.quarto_version is None
    assert "warn" == programs.judge_renderer(facts).status


def test_a_quarto_that_hangs_is_stopped(tmp_path, monkeypatch):
    """Its own patience ends before the doctor's."""

    def hang(*_, timeout, **__):
        assert timeout < doctor.DEADLINE_S
        raise subprocess.TimeoutExpired("quarto", timeout)

    program = tmp_path / "quarto"
    program.touch(0o755)
    monkeypatch.setattr(subprocess, "run", hang)

    assert programs.renderer(doctor.Here(environ={"PATH": str(tmp_path)})).quarto_version is None
