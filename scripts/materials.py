#!/usr/bin/env python3
"""Reads the output of `cargo metadata` and prints a bill of materials of the program: CycloneDX 1.5, as JSON."""

import json
import sys

found = json.load(sys.stdin)
packages = {package["id"]: package for package in found["packages"]}
nodes = {node["id"]: node for node in found["resolve"]["nodes"]}
program = next(package for package in found["packages"] if package["name"] == "lbmc")

# What the program is made of, without what only tests need.
needed, left = set(), [program["id"]]
while left:
    node = nodes[left.pop()]
    if node["id"] in needed:
        continue
    needed.add(node["id"])
    used = [dep for dep in node["deps"] if any(kind["kind"] != "dev" for kind in dep["dep_kinds"])]
    left += [dep["pkg"] for dep in used]


def component(package):
    """What is said of a package."""
    said = {
        "type": "library",
        "bom-ref": package["id"],
        "name": package["name"],
        "version": package["version"],
        "purl": f"pkg:cargo/{package['name']}@{package['version']}",
    }
    if package.get("license"):
        said["licenses"] = [{"expression": package["license"]}]
    return said


libraries = sorted((packages[name] for name in needed - {program["id"]}), key=lambda one: (one["name"], one["version"]))
json.dump(
    {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {"component": {**component(program), "type": "application"}},
        "components": [component(package) for package in libraries],
    },
    sys.stdout,
    indent=1,
)
print()
