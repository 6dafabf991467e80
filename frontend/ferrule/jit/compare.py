"""Whether two recordings of one call are the same program."""


def first_difference(one, other):
    """A sentence on the first difference between two Recorded, or None if a call would do the same with either."""
    if one.structure != other.structure:
        return "The result has another structure or holds another value"
    a, b = one.entry.text().splitlines(), other.entry.text().splitlines()
    for before, after in zip(a, b):
        if before != after:
            return f"Recorded was `{before.strip()}`, now it is `{after.strip()}`"
    if len(a) != len(b):
        return f"Recorded were {len(a)} lines, now there are {len(b)}"
    if [place.description for place, _ in one.effects] != [place.description for place, _ in other.effects]:
        return "It changes other attributes or variables"
    return None
