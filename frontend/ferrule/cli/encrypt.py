"""``ferrule encrypt FILE``: weights that only the owner of a key can use."""


def add_arguments(commands):
    """Adds the command to the parser."""
    parser = commands.add_parser(
        "encrypt",
        help="encrypt the weights of an artifact",
        description="Writes an artifact whose weights are encrypted with AES-256-GCM. Plan, names and code stay readable, and "
        "cannot be exchanged without the key.",
        epilog="Example: ferrule encrypt net.fer --key weights.key -o shipped.fer    # ferrule keygen --weights makes the key",
    )
    parser.add_argument("file", help="the artifact (.fer)")
    parser.add_argument("--key", required=True, metavar="FILE", help="the file of the key, 32 bytes")
    parser.add_argument(
        "--key-name", default="weights", metavar="NAME", help="by which the product finds its key (default: weights)"
    )
    parser.add_argument("-o", "--output", required=True, metavar="FILE", help="what to write")
    parser.set_defaults(run=run)


def run(options):
    """Writes the encrypted artifact; returns the exit code."""
    from ..program import load

    program = load(options.file, verify="all").encrypt(options.key, options.key_name)
    program.save(options.output)
    print(f"{options.output}: weights encrypted with the key {options.key_name!r}, root sha256 {program.root_sha256}")
    return 0
