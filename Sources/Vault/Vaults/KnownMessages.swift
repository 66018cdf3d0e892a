// SPDX-License-Identifier: Apache-2.0
//
// What a vault has already, so that an import need not store it again. Of each message only a keyed digest is kept, in
// memory, under a key of this import alone: the digests tell nothing to whoever has no key.

internal import MessageFormats
internal import Primitives
internal import Secrets

/// A set of messages, by their digests.
///
/// Two mails are the same if all their bytes are: then they have one Message-ID too. Other messages are the same if
/// content, title, type and date are. Tags never count: they say where a message lies, not what it is.
final class KnownMessages {
  /// Half of HMAC-SHA256: nobody who does not have the key can make two messages with one digest.
  typealias Digest = UInt128

  private let key = SystemRandom.secretBytes(count: HMACSHA256.byteCount)
  private var hmac = HMACSHA256()
  private var code = SecretBytes(zeroed: HMACSHA256.byteCount)
  private var digests: Set<Digest> = []

  func digest(of metadata: MessageMetadata, _ content: RawSpan) -> Digest {
    key.withBytes { hmac.start(key: $0) }
    hmac.update(Self.kind(of: metadata).rawSpan)
    hmac.update(content)
    code.withMutableBytes { hmac.finish(into: &$0) }
    return code.withBytes { unsafe $0.unsafeLoadUnaligned(as: Digest.self) }
  }

  func contains(_ digest: Digest) -> Bool { digests.contains(digest) }

  func insert(_ digest: Digest) { digests.insert(digest) }

  /// What counts besides the content. Each text has its length before it, so no two messages have the same bytes.
  private static func kind(of metadata: MessageMetadata) -> [UInt8] {
    if metadata.isMail { return [1] }
    var kind: [UInt8] = [0]
    for text in [metadata.contentType, metadata.title] {
      kind.append(bigEndian: UInt32(text.utf8.count))
      kind += text.utf8
    }
    kind.append(bigEndian: metadata.date)
    return kind
  }
}

extension Vault {
  /// Walks over the messages and their earlier versions: what was edited since is not stored again. Those in the trash
  /// do not count, nor those that do not open.
  ///
  /// - Parameter goesOn: asked after each batch of messages; false stops.
  /// - Returns: nil when it was stopped.
  func knownMessages(goesOn: () throws -> Bool) throws -> KnownMessages? {
    let known = KnownMessages()
    var count = 0
    var isStopped = false
    let removed = try read { transaction, _, _ in
      Set(try Self.removedMessages(before: .max, transaction))
    }
    let walk = try walk(including: [.shown, .replaced]) { row, metadata, _, content in
      if !removed.contains(row.message) { known.insert(known.digest(of: metadata, content)) }
      count += 1
      if count % batch.messageCount == 0 { isStopped = try !goesOn() }
      return !isStopped
    }
    try recordFailures(walk.unreadable)
    return isStopped ? nil : known
  }
}
