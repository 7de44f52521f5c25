"""The part of JSON Schema that the schemas of reports use."""

TYPES = {"object": dict, "array": list, "string": str, "integer": int, "boolean": bool,
         "number": (int, float)}


def misfits(value, schema, place="report"):
    """Violations of the schema in a value. Implements the part of JSON Schema that the schema uses."""
    wanted = TYPES.get(schema.get("type"))
    if wanted and not isinstance(value, wanted):
        yield f"{place} is not of type {schema['type']}"
        return
    if "const" in schema and value != schema["const"]:
        yield f"{place} is not {schema['const']}"
    if "enum" in schema and value not in schema["enum"]:
        yield f"{place} is not in {schema['enum']}"
    for name in schema.get("required", ()):
        if name not in value:
            yield f"{place} has no {name}"
    if isinstance(value, dict):
        for name, member in value.items():
            if name in schema.get("properties", {}):
                yield from misfits(member, schema["properties"][name], f"{place}.{name}")
            elif schema.get("additionalProperties") is False:
                yield f"{place} has an unexpected {name}"
    for index, item in enumerate(value if isinstance(value, list) else ()):
        yield from misfits(item, schema.get("items", {}), f"{place}[{index}]")
