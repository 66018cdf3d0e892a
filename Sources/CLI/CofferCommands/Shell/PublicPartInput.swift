// SPDX-License-Identifier: Apache-2.0
//
// Where public parts come from: a file or standard input, armored or not, a picture with a QR code, or a URL, which may
// be the whole text of a file or an argument.

internal import CofferKit
internal import Contacts
internal import Foundation
internal import MessageFormats
internal import OpenPGP
internal import Primitives
internal import Secrets

/// What was read, before a coffer is open.
enum PublicPartInput {
  /// Packets or armor; a contact's key may be what they revoke.
  case file(SharedSecretBytes)
  /// From a URL or a QR code.
  case parts(PublicParts, isPicture: Bool)
  /// A mail, which may bring some.
  case mail(SharedSecretBytes)

  /// Whether a word on the command line is a URL, well made or not.
  static func isURL(_ word: String) -> Bool { PublicPartURL.isMeant(by: Array(word.utf8).rawSpan) }

  /// Reads a file, standard input for `-`, or the URL that the word is. What no contact can make a public part of is
  /// refused.
  static func read(_ word: String, isURL: Bool) throws -> PublicPartInput {
    if isURL { return .parts(try PublicParts(url: Array(word.utf8).rawSpan), isPicture: false) }
    let bytes = SharedSecretBytes(try whole(word))
    if bytes.withBytes({ InputKind.isBackup($0) }) {
      throw PictureCode.named(Failure(backupInPlaceOf: "a public part"), word)
    }
    if let parts = try bytes.withBytes({ try PictureCode.publicPart(in: $0, path: word) }) {
      return .parts(parts, isPicture: true)
    }
    if let parts = try bytes.withBytes({ (bytes) throws(ContactError) in try url(bytes) }) {
      return .parts(parts, isPicture: false)
    }
    if bytes.withBytes({ MailTree.isMail($0) }) { return .mail(bytes) }
    do throws(ContactError) { _ = try PublicParts(bytes) } catch {
      guard case .unreadable = error else { throw error }
    }
    return .file(bytes)
  }

  /// Reads a file whole that may be a public part or a picture of one.
  static func whole(_ path: String) throws -> SecretBytes {
    try InputFile.read(
      path, byteCountLimit: Limits.certificateByteCount,
      tooLong: PictureCode.named(
        Failure(
          .refused, "certificate_too_large",
          "this file has more than 64 MiB: too much for a public part, or a picture of one"), path))
  }

  /// Whether it is from a picture.
  var isPicture: Bool { if case .parts(_, true) = self { true } else { false } }

  /// The public parts, or the stored one that a file revokes.
  func parts(_ coffer: Coffer) throws -> PublicParts {
    switch self {
    case .file(let bytes): try coffer.contacts().parts(bytes)
    case .parts(let parts, _): parts
    case .mail: throw ContactError.unreadable(.malformed(.certificateStructure))
    }
  }

  /// Of a text that is a URL and nothing else, apart from blanks and line ends around it; nil for anything else.
  private static func url(_ bytes: RawSpan) throws(ContactError) -> PublicParts? {
    func isBlank(_ offset: Int) -> Bool {
      [0x20, 0x09, 0x0A, 0x0D].contains(unsafe bytes.unsafeLoad(fromByteOffset: offset, as: UInt8.self))
    }
    guard let first = (0..<bytes.byteCount).first(where: { !isBlank($0) }),
      let last = (first..<bytes.byteCount).last(where: { !isBlank($0) })
    else { return nil }
    let text = bytes.extracting(first..<last + 1)
    return PublicPartURL.isMeant(by: text) ? try PublicParts(url: text) : nil
  }
}
