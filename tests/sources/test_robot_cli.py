"""`pagekin crawl` from the command line."""

import datetime
import json
import os
import re
import ssl
import subprocess
import sys
import threading
from collections.abc import Callable
from dataclasses import Field, fields
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from pagekin.sources import CrawlLimits, Page, crawl, parse_limits
from tests.sources.making import read_file
from tests.sources.robot_server import Server, answer, page, pages, redirect_to, serve_sites

DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "crawling.md"


class Done(NamedTuple):
    """The exit code and output of a command."""

    code: int
    out: str
    err: str


Command = Callable[..., Done]


@pytest.fixture
def pagekin(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    """Run the command in this process: a process of its own would load everything anew."""

    def run(*arguments: str | Path) -> Done:
        from pagekin.cli.app import main

        monkeypatch.setattr(sys, "argv", ["pagekin", *map(str, arguments)])
        try:
            main()
            code = 0
        except SystemExit as ended:
            code = int(ended.code or 0)
        return Done(code, *capsys.readouterr())

    return run


def local(server: Server) -> list[str]:
    return ["--allow", "loopback", "--resolve", f"*:{server.port}:127.0.0.1", "--delay", "0", "--limit", "backoff=0.05"]


def test_a_site_becomes_an_archive_and_then_a_collection(tmp_path: Path, pagekin: Command) -> None:
    table = {
        "/": page("/nile", "/old", "/gone", "/map.pdf", "http://far.example/"), "/nile": page("/", body="The Nile is a river."),
        "/old": redirect_to("/nile"), "/map.pdf": answer(b"%PDF", "Content-Type: application/pdf"),
    }  # fmt: skip
    out = tmp_path / "rivers.warc.gz"
    with serve_sites({"rivers.test": pages(table)}) as server:
        short = pagekin(
            "crawl", server.url("rivers.test"), "--out", tmp_path / "one.warc.gz", *local(server), "--pages", "1"
        )
        assert (
            "not finished (the limit of 1 pages): 4 addresses are left in one.warc.gz.crawl; run the same" in short.out
        )
        assert short.out.endswith("with more --pages\n")
        server.log.clear()
        done = pagekin(
            "crawl", server.url("rivers.test"), "--out", out, *local(server), "--contact", "https://me.example/"
        )
        assert done.code == 0, done.err
        assert server.log[0].headers["user-agent"].endswith("(+https://me.example/)")
        again = pagekin("crawl", server.url("rivers.test"), "--out", out, *local(server), "--json")
        assert len(server.log) == 6
        home = server.url("rivers.test")
    assert f"{out}: 2 pages, 6 requests" in done.out
    assert "fetched, but not a page: 1 not html (application/pdf), 1 redirect, 1 status 404\n" in done.out
    assert "not fetched: 1 other host\n" in done.out
    assert done.err == ""
    told = json.loads(again.out)
    assert (told["pages"], told["complete"], told["resumed"], told["left"]) == (2, True, True, 0)
    assert told["not_asked"] == {"other host": 1}
    built = pagekin("read", out, "--out", tmp_path / "rivers.kin", "--workers", "1", "--json", "--parser", "strict")
    facts = json.loads(built.out)
    assert facts["pages"] == 2
    assert facts["skipped"]["redirect"] == 1
    shown = pagekin("page", tmp_path / "rivers.kin", home + "old")
    assert home + "nile" in shown.out  # the redirect made it another name of the page


@pytest.mark.parametrize(("arguments", "said"), [
    (["docs.example", "--out", "a.warc.gz"], "not an http(s) address"),
    (["ftp://docs.example/", "--out", "a.warc.gz"], "not an http(s) address"),
    (["http://me:secret@docs.example/", "--out", "a.warc.gz"], "name or password"),
    (["http://docs.example/", "--out", "a.zip"], ".warc.gz or .warc"),
    (["http://docs.example/", "--out", ".warc.gz"], ".warc.gz or .warc"),
    (["http://docs.example/", "--out", "a.warc", "--scope", "world"], "host, site, prefix"),
    (["http://docs.example/", "--out", "a.warc", "--include", "("], "not a regular expression"),
    (["http://docs.example/", "--out", "a.warc", "--exclude", "*"], "not a regular expression"),
    (["http://docs.example/", "--out", "a.warc", "--allow", "everything"], "loopback, private"),
    (["http://docs.example/", "--out", "a.warc", "--allow", "169.254.169.254"], "never allowed"),
    (["http://docs.example/", "--out", "a.warc", "--resolve", "x"], "HOST:PORT:ADDRESS"),
    (["http://docs.example/", "--out", "a.warc", "--limit", "speed=9"], "page_seconds"),
    (["http://docs.example/", "--out", "a.warc", "--limit", "page_bytes=9"], "must be from 1,000"),
    (["http://docs.example/", "--out", "a.warc", "--limit", "page_bytes=many"], "whole number"),
    (["http://docs.example/", "--out", "a.warc", "--limit", "wait=nan"], "must be from"),
    (["http://docs.example/", "--out", "a.warc", "--contact", "a\r\nX-Evil: 1"], "without spaces"),
    (["http://docs.example/", "--out", "a.warc", "--pages", "0"], "0"),
    (["http://docs.example/", "--out", "a.warc", "--delay", "nan"], "not a number"),
    (["http://docs.example/"], "--out"),
])  # fmt: skip
def test_wrong_usage_is_explained(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pagekin: Command, arguments: list[str], said: str
) -> None:
    monkeypatch.chdir(tmp_path)
    done = pagekin("crawl", *arguments)
    assert done.code == 2
    assert said in done.err
    assert list(tmp_path.iterdir()) == []


def test_a_root_that_cannot_be_visited_is_explained_and_leaves_nothing(tmp_path: Path, pagekin: Command) -> None:
    with serve_sites({"site.test": pages({"/": page()})}) as server:
        names = ["--resolve", f"*:{server.port}:127.0.0.1", "--limit", "retries=0"]
        refused = pagekin("crawl", server.url("site.test"), "--out", tmp_path / "a.warc.gz", *names)
        missing = pagekin("crawl", server.url("site.test", "/none"), "--out", tmp_path / "a.warc.gz", *local(server))
        gone = server.url("site.test")
    closed = pagekin("crawl", gone, "--out", tmp_path / "a.warc.gz", *names, "--allow", "loopback")
    assert [each.code for each in (refused, missing, closed)] == [3, 3, 3]
    assert "127.0.0.1 is a loopback address; to crawl it anyway, use --allow loopback" in refused.err
    assert "gave no page: status 404" in missing.err
    assert "no connection" in closed.err
    assert [each.out for each in (refused, missing, closed)] == ["", "", ""]
    assert list(tmp_path.iterdir()) == []


# https


def certificate(folder: Path, name: str) -> tuple[Path, Path]:
    """Write a self-signed certificate for `name`, and its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    who = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
    now = datetime.datetime.now(datetime.UTC)
    made = (
        x509.CertificateBuilder().subject_name(who).issuer_name(who).public_key(key.public_key())
        .serial_number(x509.random_serial_number()).not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )  # fmt: skip
    (folder / "cert.pem").write_bytes(made.public_bytes(serialization.Encoding.PEM))
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    (folder / "key.pem").write_bytes(private)
    return folder / "cert.pem", folder / "key.pem"


class _Secure(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.wfile.write(page("/a") if self.path == "/" else page())

    def log_message(self, format: str, *args: object) -> None:
        pass


def test_https_is_spoken_with_a_valid_certificate_only(tmp_path: Path, pagekin: Command) -> None:
    cert, key = certificate(tmp_path, "secure.test")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(cert, key)
    server = HTTPServer(("127.0.0.1", 0), _Secure)
    server.handle_error = lambda *_: None  # type: ignore[assignment, method-assign]  # failed handshakes are meant
    server.socket = context.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    port = server.server_address[1]
    out = tmp_path / "a.warc.gz"
    command = ["crawl", f"https://secure.test:{port}/", "--out", str(out), "--allow", "loopback", "--delay", "0"]
    command += ["--resolve", f"*:{port}:127.0.0.1", "--limit", "retries=0"]
    try:
        refused = pagekin(*command)
        # Whom to trust is read when aiohttp is loaded, so this takes another process.
        trusting = subprocess.run(
            [sys.executable, "-m", "pagekin", *command], capture_output=True, text=True, timeout=120, check=False,
            env={**os.environ, "SSL_CERT_FILE": str(cert)},
        )  # fmt: skip
    finally:
        server.shutdown()
        server.server_close()
    assert refused.code == 3
    assert "no secure connection" in refused.err
    assert trusting.returncode == 0, trusting.stderr
    assert [item.url for item in read_file(out) if isinstance(item, Page)] == [
        f"https://secure.test:{port}/", f"https://secure.test:{port}/a",
    ]  # fmt: skip


# limits and their documentation


def test_limits_are_read_and_checked() -> None:
    assert parse_limits(CrawlLimits, ["page_seconds=0.5", "pages=2,000"]) == CrawlLimits(page_seconds=0.5, pages=2_000)
    assert CrawlLimits(pages=7).most_requests == 170
    assert CrawlLimits(pages=7, requests=9).most_requests == 9
    with pytest.raises(ValueError, match="from 0 to 100"):
        parse_limits(CrawlLimits, ["retries=101"])


@pytest.mark.parametrize("field", fields(CrawlLimits), ids=lambda field: field.name)
def test_every_limit_is_documented_with_its_default(field: Field[Any]) -> None:
    lines = DOCUMENT.read_text(encoding="utf-8").splitlines()
    row = next(line for line in lines if line.startswith(f"| `{field.name}` |"))
    assert row == f"| `{field.name}` | {field.default:,} | {field.metadata['meaning']} |".replace(".0 |", " |")


def test_every_reason_is_documented() -> None:
    """Every reason in the robot's code is in the document, in code style."""
    folder = Path(crawl.__code__.co_filename).parent
    code = "".join(path.read_text(encoding="utf-8") for path in folder.glob("*.py"))
    given = set(re.findall(r"_record\(entry, \"([a-z ]+)\"", code)) | set(
        re.findall(r"FetchError\(\"([a-z ]+)\"", code)
    )
    given |= set(
        re.findall(r"return \"((?:many|long|deep|repeating|other|outside|not included|excluded)[a-z ]*)\"", code)
    )
    assert len(given) > 12
    text = DOCUMENT.read_text(encoding="utf-8")
    assert sorted(reason for reason in given if f"`{reason}`" not in text) == []
