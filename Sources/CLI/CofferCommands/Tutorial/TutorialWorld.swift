// SPDX-License-Identifier: Apache-2.0
//
// The other people of the tutorial and what they send: Bella, a stranger who calls himself Bella, and somebody for whom
// the postman has the wrong door. Their keys are made when the tutorial begins, and end with it.

internal import CofferKit
internal import Contacts
internal import Correspondence
internal import Enclaves
internal import Foundation
internal import Identities
internal import OpenPGP
internal import Pictures
internal import Primitives
internal import Secrets
internal import Synchronization

/// Everybody but the user.
final class TutorialWorld: Sendable {
  let surroundings: TutorialSurroundings
  private let people: InMemoryIdentities
  private let bella: Identity
  private let newBella: Identity
  private let stranger: Identity
  private let somebody: Identity
  /// Whether Bella has misread a group of her fingerprint.
  private let hasMisread = Mutex(false)

  static let userID = "Ada Tutorial <ada@tutorial.invalid>"
  static let letter = "letter.txt"
  private static let bellaUserID = "Bella Tutorial <bella@tutorial.invalid>"

  init(_ surroundings: TutorialSurroundings) throws {
    self.surroundings = surroundings
    let now = Int64(Date().timeIntervalSince1970)
    let people = try InMemoryIdentities(TutorialEnclave())
    self.people = people
    func make(_ userID: String, daysAgo: Int64) throws -> Identity {
      try people.generate(userID, isUniversal: true, at: now - daysAgo * 86_400)
    }
    bella = try make(Self.bellaUserID, daysAgo: 400)
    newBella = try make(Self.bellaUserID, daysAgo: 1)
    stranger = try make(Self.bellaUserID, daysAgo: 2)
    somebody = try make("Somebody Else <else@tutorial.invalid>", daysAgo: 400)
  }

  private var files: TutorialFiles { surroundings.tutorialFiles }

  private var time: Timestamp {
    Timestamp(secondsSince1970: UInt32(clamping: Int64(Date().timeIntervalSince1970)))
  }

  /// The user's own identity.
  /// - Throws: ``Failure`` when it was deleted meanwhile.
  private func own() throws -> Identity {
    let coffer = try surroundings.coffer()
    guard let first = try coffer.identities(coffer.openIdentities()).first else {
      throw Failure(.missing, "not_found", "there is no identity any more")
    }
    return first
  }

  // MARK: What comes by mail

  func bringBella() throws { files.put(try bella.publicPart(), as: "bella.asc") }

  /// Her key after her machine was stolen.
  func bringNewBella() throws { files.put(try newBella.publicPart(), as: "bella-new.asc") }

  /// A photo of her screen, with the code of the key that she uses.
  func bringCode() throws {
    let contact = try surroundings.coffer().contact("bella")
    let isOld = contact.keyInUse?.summary.fingerprint == bella.certificate.fingerprint
    let url = try PublicPartURL.text(of: (isOld ? bella : newBella).certificate)
    files.put(picture: try QRCode(url).png(), of: url, as: "screen.png")
  }

  func bringLetter() {
    files.put(Array("Dear Bella, shall we meet on Friday at four?\n".utf8), as: Self.letter)
  }

  /// Bella's reply, the same with one bit changed, one for somebody else, and one of a stranger.
  func bringReplies() throws {
    let own = try own()
    let text = "Friday at four is fine. I bring the cake.\n"
    let reply = try message(text, to: own, by: bella)
    var changed = reply
    changed[changed.count - 40] ^= 1
    files.put(try Self.armored(reply), as: "reply.asc")
    files.put(try Self.armored(changed), as: "changed.asc")
    files.put(try Self.armored(message("Not for you.\n", to: somebody, by: bella)), as: "other.asc")
    let lie = "This is Bella. Better on Saturday, at the station, and bring the money.\n"
    files.put(try Self.armored(message(lie, to: own, by: stranger)), as: "stranger.asc")
  }

  private func message(_ text: String, to reader: Identity, by writer: Identity) throws -> [UInt8] {
    let time = time
    let outgoing = try OutgoingMessage(
      to: [("reader", .stranger(reader.certificate))], signer: writer, own: nil, at: time)
    var encryption = try outgoing.encryption(passwords: [])
    encryption.signers = [
      BorrowedKey(
        try writer.signingKey(at: time), of: writer.certificate.fingerprint, lend: people.lender)
    ]
    let sink = ArraySink()
    try encryption.encrypt(from: MemorySource(Array(text.utf8)), to: sink)
    return sink.bytes
  }

  private static func armored(_ message: [UInt8]) throws -> [UInt8] {
    let sink = ArraySink()
    let armor = try ArmorWriter(sink, kind: .message)
    try armor.write(message.rawSpan)
    try armor.finish()
    return sink.bytes
  }

  // MARK: The telephone

  /// Bella reads the group of that number; the very first one wrong.
  var telephone: @Sendable (Int) -> String {
    let groups = FingerprintText.groups(bella.certificate.fingerprint)
    return { [self] number in read(groups, number) }
  }

  private func read(_ groups: [String], _ number: Int) -> String {
    let group = groups.indices.contains(number - 1) ? groups[number - 1] : ""
    let isFirst = hasMisread.withLock { misread in
      defer { misread = true }
      return !misread
    }
    guard isFirst, let last = group.last else { return group }
    return group.dropLast() + (last == "7" ? "1" : "7")
  }

  // MARK: The machine

  /// The machine is gone; the stick and the mailbox are not.
  func loseMachine() throws {
    files.keep(["backup.asc", "reply.asc"])
    try surroundings.replaceMachine()
  }

  /// The beginning of a file, as a hexadecimal dump.
  func beginning(of name: String) -> [ShownLine] {
    guard let content = files.content(name) else { return [] }
    let octets = content.withBytes { bytes in
      [UInt8](copying: bytes.extracting(first: min(bytes.byteCount, Self.shownByteCount)))
    }
    return stride(from: 0, to: octets.count, by: 16).map { start in
      let row = octets[start..<min(start + 16, octets.count)]
      return "    \(row.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined(separator: " "))"
    }
  }

  private static let shownByteCount = 48
}
