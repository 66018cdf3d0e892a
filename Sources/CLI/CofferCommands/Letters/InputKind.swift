// SPDX-License-Identifier: Apache-2.0
//
// What a file is that cannot be read as the command would have it, so that the answer can name the command that does.

internal import Backups
internal import OpenPGP
internal import Pictures
internal import Primitives

/// A kind of input, as its beginning says. Nothing depends on it but words.
enum InputKind {
  case empty
  case message
  /// An encrypted message, as far as its beginning says.
  case ciphertext
  case publicPart
  case privatePart
  /// A signature, or a text that is signed.
  case signed
  /// A message in a reply: each line begins with `>`.
  case quoted
  /// A whole coffer, as `coffer backup` writes it.
  case backup
  case other

  /// Looks at the beginning of a source, from its first byte on.
  init(_ source: any RewindableSource) {
    do throws(OpenPGPError) {
      try source.rewind(recognising: true)
      let (beginning, isPicture) = try source.withNext { (next) throws(OpenPGPError) in
        ([UInt8](copying: next.extracting(first: Self.beginningByteCount)), CodeReader.recognises(next))
      }
      if beginning.isEmpty {
        self = .empty
      } else if BackupHeader.isMeant(by: beginning) {
        self = .backup
      } else if isPicture {
        // The first byte of a PNG looks like that of a signature packet.
        self = .other
      } else if Self.isQuoted(beginning) {
        self = .quoted
      } else if Self.isSignedText(beginning) {
        // Also if it breaks off.
        self = .signed
      } else {
        self = try Self.ofOpenPGP(source)
      }
    } catch {
      self = .other
    }
  }

  /// Whether a file begins as `coffer backup` writes it.
  static func isBackup(_ file: RawSpan) -> Bool {
    let count = min(beginningByteCount, file.byteCount)
    return BackupHeader.isMeant(by: [UInt8](copying: file.extracting(first: count)))
  }

  private static func ofOpenPGP(_ source: any ByteSource) throws(OpenPGPError) -> InputKind {
    let kind: ArmorKind?
    switch try OpenPGPInput(source, .allBlocks) {
    case .cleartext: return .signed
    // The label: what is inside may be what cannot be read.
    case .armored(let reader):
      kind = reader.kind
      let first = try? PacketReader(reader).next()?.header.type
      if kind == .message, let first, isOfCiphertext(first) { return .ciphertext }
    case .binary(let packets):
      let first = try PacketReader(packets).next()?.header.type
      if let first, isOfCiphertext(first) { return .ciphertext }
      kind = first.flatMap { ArmorKind(firstPacket: $0) }
    }
    switch kind {
    case .message: return .message
    case .publicKey: return .publicPart
    case .privateKey: return .privatePart
    case .signature: return .signed
    case .file, nil: return .other
    }
  }

  private static func isOfCiphertext(_ type: PacketType) -> Bool {
    type == .pkesk || type == .skesk || type == .seipd
  }

  private static func isQuoted(_ beginning: [UInt8]) -> Bool {
    beginning.split(separator: UInt8(ascii: "\n")).contains { line in
      line.first == UInt8(ascii: ">")
        && line.drop(while: { $0 == UInt8(ascii: ">") || $0 == UInt8(ascii: " ") })
          .starts(with: "-----BEGIN PGP MESSAGE".utf8)
    }
  }

  private static func isSignedText(_ beginning: [UInt8]) -> Bool {
    beginning.split(separator: UInt8(ascii: "\n")).first { $0.starts(with: "-----BEGIN PGP ".utf8) }?
      .starts(with: "-----BEGIN PGP SIGNED MESSAGE-----".utf8) ?? false
  }

  private static let beginningByteCount = 4096
}

extension Failure {
  /// A backup was given, and something else is wanted.
  init(backupInPlaceOf wanted: String) {
    self.init(
      .refused, "malformed", "this is a backup of a coffer, not \(wanted)",
      hint: "'coffer restore FILE' takes it")
  }

  /// The input is something else than an encrypted message.
  /// - Parameter name: how the input is called, such as "'letter.asc'".
  init(notEncrypted kind: InputKind, _ name: String) {
    let (message, hint): (String, String?) =
      switch kind {
      case .empty: ("\(name) is empty", nil)
      case .message:
        (
          "\(name) is an OpenPGP message that is not encrypted, or is damaged",
          "if it is only signed: 'coffer verify FILE'"
        )
      case .ciphertext:
        (
          "\(name) is an encrypted OpenPGP message that is damaged, or not built as the standard wants it",
          "ask the sender to send it again, or to take another program"
        )
      case .publicPart: ("\(name) is a public part, not a message", "'coffer contact import FILE' takes it")
      case .privatePart:
        ("\(name) is a private key, not a message", "'coffer identity import FILE' takes it, if it is yours")
      case .signed: ("\(name) is signed, not encrypted", "'coffer verify FILE' reads it")
      case .quoted:
        (
          "\(name) is a message that was quoted in a reply",
          "save the original, or remove the '>' from every line"
        )
      case .backup: ("\(name) is a backup of a coffer, not a message", "'coffer restore FILE' takes it")
      case .other:
        (
          "\(name) is not an encrypted OpenPGP message",
          "if it is signed and not encrypted: 'coffer verify FILE'"
        )
      }
    self.init(.refused, "malformed", message, hint: hint)
  }
}
