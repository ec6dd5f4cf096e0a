"""Fixtures of the MCP tests."""

import itertools

import pytest

from mcp_http import Modern, Plain, new_principal

numbers = itertools.count(1)


@pytest.fixture
def agent(server):
    """agent(): a principal of its own with a plain client, already initialized."""

    def make(cls=Plain, **options):
        principal, secret, key = new_principal(server, f"agent {next(numbers)}")
        client = cls(server, key=secret, **options)
        client.principal, client.key_id = principal, key["id"]
        if cls is Plain:
            client.begin()
        return client

    return make


@pytest.fixture
def plain(server):
    client = Plain(server)
    client.begin()
    return client


@pytest.fixture
def modern(server):
    return Modern(server)
