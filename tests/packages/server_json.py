"""Checks an entry for the MCP registry by the schema that it names.

    server_json.py ENTRY
"""

import importlib.resources
import json
import pathlib
import sys

import jsonschema


def main(path):
    entry = json.loads(pathlib.Path(path).read_text())
    version = entry["$schema"].split("/")[-2]
    schemas = importlib.resources.files("skillsaw.schemas.mcp_registry")
    directory = schemas / ("v" + version.replace("-", "_"))
    schema = json.loads((directory / "server.schema.json").read_text())
    assert schema["$id"] == entry["$schema"], schema["$id"]
    check = jsonschema.validators.validator_for(schema)
    errors = [f"{error.json_path}: {error.message}"
              for error in check(schema, format_checker=check.FORMAT_CHECKER).iter_errors(entry)]
    sys.exit("\n".join(errors) or 0)


main(sys.argv[1])
