"""``ferrule keygen``, ``ferrule sign FILE`` and ``ferrule verify FILE``: who made an artifact."""

import pathlib


def add_arguments(commands):
    """Adds the three commands to the parser."""
    parser = commands.add_parser(
        "keygen",
        help="make a key to sign artifacts with, or to encrypt their weights with",
        description="Writes a new Ed25519 key, and the public key beside it as FILE.pub; or one for AES-256.",
        epilog="Example: ferrule keygen -o release.key",
    )
    parser.add_argument("--weights", action="store_true", help="a key for ferrule encrypt instead: 32 bytes")
    parser.add_argument("-o", "--output", required=True, metavar="FILE", help="where the secret key goes; must not exist")
    parser.set_defaults(run=run_keygen)

    parser = commands.add_parser(
        "sign",
        help="sign an artifact",
        description="Writes a detached signature of the artifact's root hash; slices of it have the same.",
        epilog="Example: ferrule sign net.fer --key release.key    # writes net.fer.sig",
    )
    parser.add_argument("file", help="the artifact (.fer)")
    parser.add_argument("--key", required=True, metavar="FILE", help="the secret key")
    parser.add_argument("-o", "--output", metavar="FILE", help="what to write (default: the artifact's name + .sig)")
    parser.set_defaults(run=run_sign)

    parser = commands.add_parser(
        "verify",
        help="check an artifact, its weights and its signature",
        description="Verifies everything in an artifact, and who signed it.",
        epilog="Example: ferrule verify net.fer --public-key release.key.pub",
    )
    parser.add_argument("file", help="the artifact (.fer)")
    parser.add_argument("--public-key", metavar="FILE", help="whose signature it must have; none: any artifact will do")
    parser.add_argument("--signature", metavar="FILE", help="the signature (default: the artifact's name + .sig)")
    parser.add_argument("--weights-key", metavar="FILE", help="the key that must open its weights")
    parser.set_defaults(run=run_verify)


def run_keygen(options):
    """Writes the key or both keys; returns the exit code."""
    from ..errors import ArtifactError
    from .. import encryption, signing

    try:
        (encryption if options.weights else signing).generate_key(options.output)
    except OSError as error:
        raise ArtifactError(f"cannot write the key {options.output!r}: {error.strerror}") from None
    print(f"{options.output}: keep it secret" + ("" if options.weights else f"; {options.output}.pub goes into products"))
    return 0


def run_sign(options):
    """Writes the signature of a verified artifact; returns the exit code."""
    from ..program import load
    from ..signing import sign

    program = load(options.file, verify="all")
    output = options.output or options.file + ".sig"
    pathlib.Path(output).write_bytes(sign(program, options.key))
    print(f"{output}: signs root sha256 {program.root_sha256}")
    return 0


def run_verify(options):
    """Opens the artifact with all checks; returns the exit code."""
    from ..program import load

    program = load(
        options.file,
        verify="all",
        public_key=options.public_key,
        signature=options.signature,
        weights_key=options.weights_key,
    )
    signed = f", signed by the owner of {options.public_key}" if options.public_key else ""
    print(f"{options.file}: sound{signed}; root sha256 {program.root_sha256}")
    return 0
