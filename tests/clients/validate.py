"""Validates every recorded line of the server with the SDK's models of the protocol's schema."""

import json
import sys
from pathlib import Path

from jsonschema import Draft202012Validator
from mcp_types.jsonrpc import JSONRPCError, JSONRPCNotification, JSONRPCResponse
from mcp_types.methods import parse_server_notification, validate_server_result

VERSION = "io.modelcontextprotocol/protocolVersion"

# The output schemas of the tools.
SCHEMAS: dict[str, dict] = {}


def messages(path: Path) -> list[dict]:
    # Bytes, since str.splitlines also splits at other characters than a line feed.
    return [json.loads(line) for line in path.read_bytes().split(b"\n") if line.strip()]


class Session:
    """One connection: its requests, and the revision of the protocol."""

    def __init__(self, asked: list[dict]) -> None:
        self.asked = {message["id"]: message for message in asked if "method" in message}
        self.version = "2025-11-25"

    def check(self, message: dict) -> None:
        if "method" in message:
            JSONRPCNotification.model_validate(message)
            parse_server_notification(message["method"], self.version, message["params"])
        elif "error" in message:
            JSONRPCError.model_validate(message)
        else:
            JSONRPCResponse.model_validate(message)
            self.check_result(self.asked[message["id"]], message["result"])

    def check_result(self, request: dict, result: dict) -> None:
        method, params = request["method"], request.get("params") or {}
        if method == "initialize":
            self.version = result["protocolVersion"]
        self.version = params.get("_meta", {}).get(VERSION, self.version)
        # The models do not include extensions; the Inspector checks this one.
        if not method.startswith("skills/"):
            validate_server_result(method, self.version, result)
        for tool in result.get("tools", []):
            for schema in (tool["inputSchema"], tool["outputSchema"]):
                Draft202012Validator.check_schema(schema)
        if method == "tools/call" and not result["isError"]:
            Draft202012Validator(SCHEMAS[params["name"]]).validate(result["structuredContent"])


def main() -> None:
    lines = 0
    versions: dict[str, int] = {}
    logs = sorted(Path(sys.argv[1]).glob("*.out"))
    for log in logs:
        for message in messages(log):
            for tool in message.get("result", {}).get("tools", []):
                SCHEMAS[tool["name"]] = tool["outputSchema"]
    for log in logs:
        asked = [message for message in messages(log.with_suffix(".in")) if "id" in message]
        session = Session(asked)
        for message in messages(log):
            try:
                session.check(message)
            except Exception:
                print(json.dumps(message)[:2000], file=sys.stderr)
                raise
            lines += 1
            versions[session.version] = versions.get(session.version, 0) + 1
    least = int(sys.argv[2])
    assert len(versions) == 2 and lines >= least, versions
    told = ", ".join(f"{count} in {version}" for version, count in sorted(versions.items()))
    print(f"   schema of the protocol: {lines} lines of {len(logs)} sessions are valid ({told})")


main()
