"""LibreChat's own signed tokens: each of its users is a principal, and nobody becomes one without a valid signature."""

import base64
import json
import subprocess
import time

import pytest
import requests

from librechat import Current, LibreChat
from sandkeep_server import ROOT_KEY


def encode(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


class Signer:
    """A private key of LibreChat's, in a file."""

    def __init__(self, folder, name, algorithm):
        self.algorithm, self.private, self.public = algorithm, folder / f"{name}.pem", folder / f"{name}-public.pem"
        kind = ["-algorithm", "ed25519"] if algorithm == "EdDSA" else ["-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048"]
        subprocess.run(["openssl", "genpkey", *kind, "-out", self.private], check=True, capture_output=True)
        subprocess.run(["openssl", "pkey", "-in", self.private, "-pubout", "-out", self.public], check=True, capture_output=True)

    def signature(self, message):
        if self.algorithm == "RS256":
            return subprocess.run(["openssl", "dgst", "-sha256", "-sign", self.private], input=message, check=True, capture_output=True).stdout
        file = self.private.with_suffix(".message")  # Ed25519 needs the message's length before it starts
        file.write_bytes(message)
        return subprocess.run(["openssl", "pkeyutl", "-sign", "-rawin", "-inkey", self.private, "-in", file], check=True, capture_output=True).stdout

    def token(self, header=None, **claims):
        now = int(time.time())
        claims = {"iss": "librechat", "aud": "codeapi", "sub": "user-1", "iat": now, "nbf": now, "exp": now + 300, "tenant_id": "t", **claims}
        claims = {k: v for k, v in claims.items() if v is not None}
        header = {"alg": self.algorithm, "typ": "JWT", "kid": "k1", **(header or {})}
        message = (encode(json.dumps(header).encode()) + "." + encode(json.dumps(claims).encode())).encode()
        return message.decode() + "." + encode(self.signature(message))


@pytest.fixture(scope="module", params=["EdDSA", "RS256"])
def signer(request, tmp_path_factory):
    return Signer(tmp_path_factory.mktemp("keys"), "librechat", request.param)


@pytest.fixture(scope="module")
def trusting(signer):
    """A server that was given LibreChat's public key."""
    from sandkeep_server import Server

    one = Server("--librechat-jwt-key", str(signer.public), "--librechat-jwt-issuer", "librechat", "--librechat-jwt-audience", "codeapi",
                 environment={"SANDKEEP_SANDBOX": "required"}).start()
    yield one
    one.remove()


def as_user(server, token):
    return Current(server.url + "/librechat/v1", {"Authorization": f"Bearer {token}"})


def test_every_user_has_a_workspace_of_their_own_and_keeps_it(trusting, signer):
    anna = as_user(trusting, signer.token(sub="anna"))
    ref = anna.upload("diary.txt", b"private")
    ran = anna.exec("print(open('diary.txt').read())", files=[ref])
    assert ran["stdout"] == "private\n"
    later = as_user(trusting, signer.token(sub="anna", jti="another token"))
    assert later.download(ref).content == b"private"
    ben = as_user(trusting, signer.token(sub="ben"))
    ben.call("GET", f"/download/{ref['storage_session_id']}/{ref['id']}", 404)
    assert ben.exec("print('x')", session_id=ran["session_id"])["session_id"] != ran["session_id"]
    principals = requests.get(trusting.url + "/api/v1/principals", headers={"Authorization": f"Bearer {ROOT_KEY}"}, timeout=60).json()["items"]
    assert {"librechat:anna", "librechat:ben"} <= {one["name"] for one in principals}
    assert [one["name"] for one in principals].count("librechat:anna") == 1
    assert not any(one["admin"] for one in principals if one["name"].startswith("librechat:"))


def test_a_subject_with_an_administrators_name_is_not_the_administrator(trusting, signer):
    impostor = as_user(trusting, signer.token(sub="admin"))
    impostor.upload("x.txt", b"1")
    mine = requests.get(trusting.url + "/api/v1/sessions", headers={"Authorization": f"Bearer {ROOT_KEY}"}, timeout=60).json()["items"]
    assert mine == [], "what the impostor made is not the administrator's"


def test_tokens_open_librechats_calls_only_and_keys_go_on_working(trusting, signer):
    headers = {"Authorization": f"Bearer {signer.token()}"}
    assert requests.get(trusting.url + "/api/v1/sessions", headers=headers, timeout=60).status_code == 401
    assert LibreChat(trusting.url + "/librechat/v1", {"X-API-Key": ROOT_KEY}).exec("print(1)")["stdout"] == "1\n"


def tampered(token, part):
    parts = token.split(".")
    middle = len(parts[part]) // 2
    parts[part] = parts[part][:middle] + ("A" if parts[part][middle] != "A" else "B") + parts[part][middle + 1:]
    return ".".join(parts)


def test_an_invalid_token_is_refused(trusting, signer, tmp_path):
    now = int(time.time())
    good = signer.token()
    as_user(trusting, good).call("GET", "/files/" + "A" * 21, 404)
    other_kind = "RS256" if signer.algorithm == "EdDSA" else "EdDSA"
    unsigned = encode(json.dumps({"alg": "none"}).encode()) + "." + good.split(".")[1] + "."
    bad = {
        "its time is over": signer.token(exp=now - 3600),
        "it has no end": signer.token(exp=None),
        "its end is no number": signer.token(exp="never"),
        "it begins later": signer.token(nbf=now + 3600),
        "it was made later": signer.token(iat=now + 3600),
        "another issuer": signer.token(iss="somebody"),
        "no issuer": signer.token(iss=None),
        "another audience": signer.token(aud=["x", "y"]),
        "no subject": signer.token(sub=None),
        "an empty subject": signer.token(sub=""),
        "a subject that is no text": signer.token(sub=5),
        "an unknown critical extension": signer.token(header={"crit": ["exp"]}),
        "the other algorithm": signer.token(header={"alg": other_kind}),
        "the public key as a secret": signer.token(header={"alg": "HS256"}),
        "no signature": unsigned,
        "somebody else's signature": Signer(tmp_path, "other", signer.algorithm).token(),
        "another header": tampered(good, 0),
        "another payload": tampered(good, 1),
        "another signature": tampered(good, 2),
        "a part missing": good.rsplit(".", 1)[0] + ".",
        "far too long": good + "A" * 20000,
    }
    for why, token in bad.items():
        answer = requests.get(trusting.url + "/librechat/v1/files/" + "A" * 21, headers={"Authorization": f"Bearer {token}"}, timeout=60)
        assert answer.status_code in (401, 431), (why, answer.status_code, answer.text)
        if answer.status_code == 401:
            assert isinstance(answer.json()["error"], str), why
    assert as_user(trusting, signer.token(aud=["x", "codeapi"], exp=now - 5)).exec("print(1)")["stdout"] == "1\n", "clocks may differ a little"


def test_without_a_key_to_check_them_tokens_are_refused_with_advice(server, signer):
    body = as_user(server, signer.token()).call("POST", "/exec", 401, json={"lang": "py", "code": "1"}).json()
    assert "--librechat-jwt-key" in body["details"]


def test_a_file_that_holds_no_public_key_keeps_the_server_from_starting(make_server, signer):
    with pytest.raises(RuntimeError, match="librechat_jwt_key"):
        make_server("--librechat-jwt-key", str(signer.private))
