// SPDX-License-Identifier: Apache-2.0

internal import OpenPGP
internal import Secrets

enum EncryptCommand: Subcommand {
  static let name = "encrypt"
  static let operandCounts = 0...any
  static let options: [OptionRule] = [
    .value("as"), .flag("no-armor"), .values("with-password"), .values("sign-with"),
    .values("with-key-password"),
    .value("profile"), .value("session-key-out"), .value("for"),
  ]
  static let page = """
    coffer-sop encrypt: encrypts a message to certificates and passwords

    usage: coffer-sop encrypt [OPTIONS] [CERTS ...] < DATA > CIPHERTEXT

      --with-password=FILE        this password opens the message; can be given several times
      --sign-with=KEYS            signs it, inside; can be given several times
      --with-key-password=FILE    opens these keys; can be given several times
      --as=binary|text            text: UTF-8, whatever its line ends
      --for=storage|communications|any
                                  what the recipients' keys must be meant for; any is the default
      --profile=NAME              for passwords: default, rfc4880 or rfc9580; see list-profiles
      --session-key-out=FILE      the key of the message
      --no-armor                  binary output

    The message is written in the best form that all recipients can read.

    example: coffer-sop encrypt --sign-with=alice.key bob.cert < letter.txt > letter.pgp
    """

  private enum Purpose: String {
    case storage, communications, any

    var flags: KeyFlags {
      switch self {
      case .storage: .encryptStorage
      case .communications: .encryptCommunications
      case .any: [.encryptStorage, .encryptCommunications]
      }
    }
  }

  static func run(_ call: Call) throws(Failure) {
    guard !call.operands.isEmpty || !call.all("with-password").isEmpty else {
      throw Failure(.missingArgument, "neither a certificate nor a password is given")
    }
    let mode = try call.choice("as", DocumentMode.binary)
    let purpose = try call.choice("for", Purpose.any)
    let profile = try Profile.asked(call, of: [.universal, .advanced])
    let keyOutput = try call.value("session-key-out").map { (name) throws(Failure) in
      try OutputDesignator(name)
    }
    var passwords: [SharedSecretBytes] = []
    for name in call.all("with-password") { passwords.append(try Password(name).new()) }
    let now = CalendarTime.now()
    let recipients = try KeyFiles.certificates(at: call.operands)
    let signers = try SigningKeys(call, at: now).signers(at: call.all("sign-with"))
    // Without a profile, recipients decide; passwords alone are for the reader that knows least.
    let passwordProfile: MessageEncryption.PasswordProfile =
      profile == .advanced || profile == nil && !recipients.isEmpty ? .advanced : .universal
    var encryption: MessageEncryption
    do {
      encryption = try MessageEncryption(
        to: recipients, passwords: passwords, passwordProfile: passwordProfile, purpose: purpose.flags,
        time: now)
    } catch {
      throw Failure(error, .certificates)
    }
    encryption.signers = signers
    encryption.isText = mode == .text
    if call.has("debug") {
      StandardStreams.note("debug: the form is \(encryption.format)")
      StandardStreams.note("debug: \(QuantumSafetyText.line(encryption.quantumWeaknesses))")
    }
    let message = encryption
    if let keyOutput { try SessionKeyText.write(message.sessionKey, to: keyOutput) }
    try StandardStreams.write(call.has("no-armor") ? nil : .message, .document) {
      (sink) throws(OpenPGPError) in
      try message.encrypt(from: StandardStreams.input(), to: sink)
    }
    try keyOutput?.finish()
  }
}
