// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import OpenPGP
internal import Secrets

enum DecryptCommand: Subcommand {
  static let name = "decrypt"
  static let operandCounts = 0...any
  static let options: [OptionRule] = [
    .value("session-key-out"), .values("with-session-key"), .values("with-password"),
    .values("with-key-password"),
    .value("verifications-out"), .value("verify-out"), .values("verify-with"), .value("verify-not-before"),
    .value("verify-not-after"),
  ]
  static let page = """
    coffer-sop decrypt: decrypts a message

    usage: coffer-sop decrypt [OPTIONS] [KEYS ...] < CIPHERTEXT > DATA

    Nothing comes out before all of the message has been found to be whole and unchanged.

      --with-password=FILE        try this password; can be given several times
      --with-session-key=FILE     try this key of the message; can be given several times
      --with-key-password=FILE    opens the keys; can be given several times
      --verify-with=CERTS         whose signatures count; can be given several times
      --verifications-out=FILE    a line for each that is good; the file is empty when none is, and that is no
                                  failure
      --verify-not-before=TIME, --verify-not-after=TIME
                                  when signatures must have been made
      --session-key-out=FILE      the key of the message

    example: coffer-sop decrypt --verify-with=alice.cert --verifications-out=good.txt bob.key < letter.pgp
    """

  static func run(_ call: Call) throws(Failure) {
    let outputNames = call.all("verifications-out") + call.all("verify-out")
    guard outputNames.count <= 1 else {
      throw Failure(.incompatibleOptions, "--verify-out is the old name of --verifications-out; give one")
    }
    guard outputNames.isEmpty == call.all("verify-with").isEmpty else {
      throw Failure(.incompleteVerification, "--verify-with and --verifications-out go together only")
    }
    let secrets = call.operands + call.all("with-password") + call.all("with-session-key")
    guard !secrets.isEmpty else {
      throw Failure(.missingArgument, "no key, password or session key is given")
    }
    if let name = call.value("session-key-out"), outputNames.contains(name), !name.hasPrefix("@FD:") {
      throw Failure(.incompatibleOptions, "--session-key-out and --verifications-out name one file")
    }
    let keyOutput = try call.value("session-key-out").map { (name) throws(Failure) in
      try OutputDesignator(name)
    }
    let verificationsOutput = try outputNames.first.map { (name) throws(Failure) in try OutputDesignator(name)
    }
    var verification: Verification?
    if verificationsOutput != nil {
      verification = try Verification(
        with: call.all("verify-with"), notBefore: call.value("verify-not-before"),
        notAfter: call.value("verify-not-after"))
    }
    let isDebugging = call.has("debug")
    try decrypt(try decryption(call, verification)) { (message) throws(Failure) in
      if isDebugging {
        StandardStreams.note("debug: \(QuantumSafetyText.line(message.quantumWeaknesses))")
      }
      if let keyOutput { try SessionKeyText.write(message.sessionKey, to: keyOutput) }
      try verificationsOutput?.prepare(verification?.lines(message.verifications) ?? "")
    }
    try keyOutput?.finish()
    try verificationsOutput?.finish()
  }

  private static func decryption(
    _ call: Call, _ verification: Verification?
  ) throws(Failure) -> MessageDecryption {
    var decryption = MessageDecryption()
    decryption.passwords = try [Password](call.all("with-password")).candidates
    for name in call.all("with-session-key") { decryption.sessionKeys.append(try SessionKeyText.read(name)) }
    let keyPasswords = try [Password](call.all("with-key-password")).candidates
    for key in try KeyFiles.keys(at: call.operands) {
      decryption.keys += LazyDecryptor.all(in: key, passwords: keyPasswords).map {
        MessageDecryption.Key($0, certificate: key.certificate.fingerprint)
      }
    }
    decryption.verifier = verification?.verifier
    return decryption
  }

  /// - Parameter prepare: writes what else is to come of the message, before its data do.
  private static func decrypt(
    _ decryption: MessageDecryption, preparing prepare: (DecryptedMessage) throws(Failure) -> Void
  ) throws(Failure) {
    var release = Release()
    do throws(OpenPGPError) {
      let output = StandardStreams.output()
      _ = try decryption.decrypt(from: SpooledSource(descriptor: STDIN_FILENO), to: output) { message in
        release.isAllowed { () throws(Failure) in try prepare(message) }
      }
      try output.flush()
    } catch {
      throw Failure(error, .message)
    }
    try release.throwFailure()
  }
}
