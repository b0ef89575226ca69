#!/usr/bin/env python3
"""Verifies pushed Responses of MA2H by the text of the specification (spec 9.2) and by nothing of this project.

It needs the packages cryptography and rfc8785; tools/python.sh installs them. Standard input is a JSON array of pushes in
the order in which they came, each an object:

    {"url": ..., "header": the value of MA2H-Signature, "body": the body in base64, "now": Unix seconds,
     "secret": the secret of the agent, for hmac  |  "jwks": the key set of the hub, for ed25519}

Standard output is a JSON array as long: null for a push that is good, and else why it is refused.
"""

import base64
import hashlib
import hmac
import json
import re
import sys

import rfc8785
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

WINDOW = 120  # seconds


class Refused(Exception):
    pass


def unique(pairs):
    members = dict(pairs)
    if len(members) != len(pairs):
        raise Refused("a member name occurs twice")
    return members


def from_base64url(text):
    if not re.fullmatch(r"[A-Za-z0-9_-]*={0,2}", text):
        raise Refused("v1 is no base64url")
    core = text.rstrip("=")
    return base64.urlsafe_b64decode(core + "=" * (-len(core) % 4))


def parameters(header):
    found = {}
    for part in header.split(","):
        name, equals, value = part.strip(" \t").partition("=")
        if not equals or name in found:
            raise Refused("the header is malformed")
        found[name] = value
    if not {"t", "jti", "v1"} <= found.keys() or not found["jti"] or not re.fullmatch(r"0|[1-9][0-9]{0,11}", found["t"]):
        raise Refused("the header is malformed")
    return found["t"], found["jti"], from_base64url(found["v1"])


def signed_context(body, url, t, jti):
    payload = {"response": body.get("response"), "state": body.get("state")}
    return rfc8785.dumps({
        "ma2h_version": body["ma2h_version"],
        "callback_url": url,
        "id": body["in_reply_to"],
        "in_reply_to": body["in_reply_to"],
        "jti": jti,
        "payload_sha256": hashlib.sha256(rfc8785.dumps(payload)).hexdigest(),
        "resolution": body["resolution"],
        "resolution_id": body["resolution_id"],
        "resolved_at": (body.get("response") or {}).get("resolved_at"),
        "t": t,
    })


def good_under(key, signature, context):
    try:
        Ed25519PublicKey.from_public_bytes(key).verify(signature, context)
        return True
    except (InvalidSignature, ValueError):
        return False


def check(push, seen):
    t, jti, signature = parameters(push["header"])
    if len(signature) < 32:
        raise Refused("v1 is too short")
    if abs(push["now"] - int(t)) > WINDOW:
        raise Refused("signed too long ago, or ahead of this clock")
    body = json.loads(base64.b64decode(push["body"]), object_pairs_hook=unique)
    context = signed_context(body, push["url"], t, jti)
    if "secret" in push:
        good = hmac.compare_digest(hmac.new(push["secret"].encode(), context, hashlib.sha256).digest(), signature)
    else:
        keys = [from_base64url(k["x"]) for k in push["jwks"]["keys"] if (k["kty"], k["crv"]) == ("OKP", "Ed25519")]
        good = any(good_under(k, signature, context) for k in keys)
    if not good:
        raise Refused("the signature does not match")
    if jti in seen:
        raise Refused("this delivery was seen before")
    seen.add(jti)


def main():
    seen, results = set(), []
    for push in json.load(sys.stdin):
        try:
            check(push, seen)
            results.append(None)
        except Refused as why:
            results.append(str(why))
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            results.append(f"unreadable: {type(error).__name__}")
    json.dump(results, sys.stdout)


main()
