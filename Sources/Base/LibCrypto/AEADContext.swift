// SPDX-License-Identifier: Apache-2.0
//
// OCB (RFC 7253) and GCM (SP 800-38D) by libcrypto, and EAX (Bellare, Rogaway, Wagner: "The EAX Mode of
// Operation", 2004), which libcrypto does not have: counter mode under a tag made of three CMACs (SP 800-38B),
// told apart by a first block. EAX is only read, so its speed is that of CMAC. All tags have 16 bytes.

internal import CSystem
internal import Secrets

/// An AEAD mode with one key for many messages, in one direction.
package struct AEADContext: ~Copyable, Sendable {
  package enum Mode: Sendable { case eax, ocb, gcm }
  package enum Direction: Sendable { case seal, open }

  /// The context of the mode itself; for EAX, of its counter mode.
  private var context: CipherContext
  private var tags: EAXTags?
  private let direction: Direction

  /// nil when libcrypto does not have the cipher in this mode.
  /// - Parameter key: as long as the cipher wants it.
  package init?(
    _ algorithm: BlockCipher.Algorithm, _ mode: Mode, _ direction: Direction, key: RawSpan,
    nonceByteCount: Int
  ) {
    switch mode {
    case .eax:
      guard let cipher = BlockCipher(algorithm, .counter),
        let context = CipherContext(cipher, encrypts: true, key: key)
      else { return nil }
      let tags = EAXTags(algorithm, key: key)
      if tags == nil { return nil }
      self.init(context, tags, direction)
    case .ocb, .gcm:
      guard let cipher = BlockCipher(algorithm, mode == .ocb ? .ocb : .gcm),
        let context = CipherContext(
          cipher, encrypts: direction == .seal, key: key, nonceByteCount: nonceByteCount)
      else { return nil }
      self.init(context, nil, direction)
    }
  }

  private init(_ context: consuming CipherContext, _ tags: consuming EAXTags?, _ direction: Direction) {
    self.context = context
    self.tags = tags
    self.direction = direction
  }

  /// Encrypts all but the last 16 bytes of `buffer` in place and writes the tag there.
  /// - Parameter nonce: never used before with this key.
  package mutating func seal(_ buffer: inout MutableRawSpan, nonce: RawSpan, authenticating data: RawSpan) {
    precondition(direction == .seal, "this context opens")
    guard tags != nil else {
      context.restart(nonce: nonce)
      let isDone = context.authenticate(data) && context.sealInPlace(&buffer)
      precondition(isDone, "encryption cannot fail")
      return
    }
    let count = buffer.byteCount - CipherContext.tagByteCount
    precondition(count >= 0, "no room for the tag")
    let head = tags!.head(nonce: nonce, data: data)
    run(&buffer, count, from: head)
    let tag = tags!.tag(head, ciphertext: buffer.bytes.extracting(first: count))
    for index in tag.indices {
      buffer.storeBytes(of: tag[index], toByteOffset: count + index, as: UInt8.self)
    }
  }

  /// Decrypts all but the last 16 bytes of `buffer`, the tag, in place; erases all of it when they do not match.
  /// - Returns: whether they match; false also for fewer bytes than a tag.
  package mutating func open(
    _ buffer: inout MutableRawSpan, nonce: RawSpan, authenticating data: RawSpan
  ) -> Bool {
    precondition(direction == .open, "this context seals")
    let count = buffer.byteCount - CipherContext.tagByteCount
    guard count >= 0 else { return false }
    guard tags != nil else {
      context.restart(nonce: nonce)
      guard context.authenticate(data) else { preconditionFailure("a cipher cannot fail") }
      return context.openInPlace(&buffer)
    }
    let head = tags!.head(nonce: nonce, data: data)
    let tag = tags!.tag(head, ciphertext: buffer.bytes.extracting(first: count))
    guard constantTimeEqual(tag.rawSpan, buffer.bytes.extracting(droppingFirst: count)) else {
      unsafe buffer.withUnsafeMutableBytes {
        if let start = $0.baseAddress { unsafe coffer_erase(start, $0.count) }
      }
      return false
    }
    run(&buffer, count, from: head)
    return true
  }

  /// The counter mode of EAX over the first bytes of `buffer`.
  private mutating func run(_ buffer: inout MutableRawSpan, _ count: Int, from head: EAXTags.Head) {
    context.restart(nonce: head.counter.rawSpan)
    var message = buffer._mutatingExtracting(first: count)
    context.updateInPlace(&message)
  }
}

/// The tags of EAX, and where its counter begins.
private struct EAXTags: ~Copyable, Sendable {
  typealias Block = InlineArray<16, UInt8>

  /// The exclusive or of the CMACs of nonce and data.
  struct Head {
    /// The first block of the counter mode: the CMAC of the nonce.
    let counter: Block
    let data: Block
  }

  /// The last octet of the block that precedes each CMAC's message.
  private enum Part: UInt8 { case nonce, data, ciphertext }

  private var mac: MAC

  init?(_ algorithm: BlockCipher.Algorithm, key: RawSpan) {
    guard let cipher = BlockCipher(algorithm, .cbc), let mac = MAC(cmac: cipher, key: key),
      mac.byteCount == Block.count
    else { return nil }
    self.mac = mac
  }

  mutating func head(nonce: RawSpan, data: RawSpan) -> Head {
    Head(counter: code(.nonce, nonce), data: code(.data, data))
  }

  mutating func tag(_ head: Head, ciphertext: RawSpan) -> Block {
    var tag = code(.ciphertext, ciphertext)
    for index in tag.indices { tag[index] ^= head.counter[index] ^ head.data[index] }
    return tag
  }

  /// OMAC_t of the paper: the CMAC of a block that holds the number t, and the message.
  private mutating func code(_ part: Part, _ message: RawSpan) -> Block {
    var first = Block(repeating: 0)
    first[first.count - 1] = part.rawValue
    mac.restart()
    mac.update(first.rawSpan)
    mac.update(message)
    var code = Block(repeating: 0)
    var span = code.mutableSpan
    var output = unsafe span.mutableBytes
    mac.finish(into: &output)
    return code
  }
}
