// SPDX-License-Identifier: Apache-2.0
//
// RFC 9580, section 5.13.2: encrypted data of version 2, AEAD in chunks. Key and nonces are derived from the
// session key, the salt and the fields of the header, so none of these can be changed. A chunk's nonce ends
// in its number; after the last chunk comes a tag over the number of all octets, so that none can be cut off.

internal import Primitives
internal import Secrets

/// Decrypts the chunks of a message of version 2, on two threads. Only chunks that are authentic are handed
/// out, and the end comes only when the tag of the whole message is right.
final class SEIPDv2Decryptor: BatchWork {
  private let source: any ByteSource
  private let layout: SEIPDv2Layout
  private let ciphers: [SEIPDv2ChunkCipher]
  /// The last octets that were read: they may be the tag of the whole message.
  private var held: [UInt8] = []

  let isSerial = false

  /// The plaintext of `source`, which begins with the first chunk and ends with the last tag.
  /// - Parameter byteCount: of `source`, where that is known: a short message needs little memory.
  static func source(
    _ source: any ByteSource, byteCount: Int?, _ keys: SEIPDv2Keys
  ) throws(OpenPGPError) -> BatchPipeline {
    let work = try SEIPDv2Decryptor(source, keys)
    let room = BatchPipeline.room(work.layout.batchRoom, forStreamOf: byteCount)
    // Two large chunks under way keep both threads busy, and memory small.
    let isLarge = work.layout.batchChunkCount == 1
    return BatchPipeline(work, batchByteCount: room, batchCount: isLarge ? 3 : 4)
  }

  private init(_ source: any ByteSource, _ keys: SEIPDv2Keys) throws(OpenPGPError) {
    self.source = source
    layout = SEIPDv2Layout(chunkByteCount: keys.chunkByteCount)
    ciphers = [try keys.cipher(.open), try keys.cipher(.open)]
  }

  func read(_ batch: Batch) throws(OpenPGPError) {
    held = try batch.fill(from: source, after: held, keepingBack: AEADAlgorithm.tagByteCount)
  }

  func transform(_ batch: Batch, lane: Int) throws(OpenPGPError) {
    let cipher = ciphers[lane]
    let count = batch.contentByteCount
    let chunkCount = layout.chunkCount(count)
    let firstNumber = batch.number * layout.batchChunkCount
    let plaintextCount = count - chunkCount * AEADAlgorithm.tagByteCount
    try batch.bytes.withMutableBytes { (bytes) throws(OpenPGPError) in
      for index in 0..<chunkCount {
        let range = layout.range(index, of: count)
        // Empty chunks are not allowed.
        guard range.count > AEADAlgorithm.tagByteCount else { throw .notAuthentic }
        try bytes.withRange(range) { (chunk) throws(OpenPGPError) in
          try cipher.open(&chunk, number: firstNumber + index)
        }
      }
      guard batch.isLast else { return }
      let total = layout.plaintextByteCount(beforeBatch: batch.number) + plaintextCount
      try bytes.withRange(count..<count + AEADAlgorithm.tagByteCount) { (tag) throws(OpenPGPError) in
        try cipher.openEnd(&tag, chunkCount: firstNumber + chunkCount, byteCount: total)
      }
    }
    let tagCount = AEADAlgorithm.tagByteCount
    batch.setContent(
      0..<max(0, count - tagCount), pieceByteCount: layout.chunkByteCount, gapByteCount: tagCount)
  }
}

/// Encrypts what a source gives into the chunks of a message of version 2, on two threads.
final class SEIPDv2Encryptor: BatchWork {
  private let source: any ByteSource
  private let layout: SEIPDv2Layout
  private let ciphers: [SEIPDv2ChunkCipher]

  let isSerial = false

  /// The ciphertext, from the first chunk to the tag after the last.
  static func source(_ source: any ByteSource, _ keys: SEIPDv2Keys) throws(OpenPGPError) -> BatchPipeline {
    let work = try SEIPDv2Encryptor(source, keys)
    return BatchPipeline(work, batchByteCount: work.layout.batchRoom)
  }

  private init(_ source: any ByteSource, _ keys: SEIPDv2Keys) throws(OpenPGPError) {
    self.source = source
    layout = SEIPDv2Layout(chunkByteCount: keys.chunkByteCount)
    ciphers = [try keys.cipher(.seal), try keys.cipher(.seal)]
  }

  func read(_ batch: Batch) throws(OpenPGPError) {
    var filled = 0
    while filled < layout.batchRoom - AEADAlgorithm.tagByteCount {
      let room = filled..<filled + layout.chunkByteCount
      let count = try batch.bytes.withMutableBytes { (bytes) throws(OpenPGPError) in
        try bytes.withRange(room) { (chunk) throws(OpenPGPError) in try source.read(into: &chunk) }
      }
      if count > 0 { filled += count + AEADAlgorithm.tagByteCount }
      batch.isLast = count < layout.chunkByteCount
      if batch.isLast { break }
    }
    batch.contentByteCount = filled
  }

  func transform(_ batch: Batch, lane: Int) {
    let cipher = ciphers[lane]
    let count = batch.contentByteCount
    let chunkCount = layout.chunkCount(count)
    let firstNumber = batch.number * layout.batchChunkCount
    batch.bytes.withMutableBytes { bytes in
      for index in 0..<chunkCount {
        bytes.withRange(layout.range(index, of: count)) { cipher.seal(&$0, number: firstNumber + index) }
      }
      guard batch.isLast else { return }
      let total =
        layout.plaintextByteCount(beforeBatch: batch.number) + count
        - chunkCount * AEADAlgorithm.tagByteCount
      bytes.withRange(count..<count + AEADAlgorithm.tagByteCount) {
        cipher.sealEnd(&$0, chunkCount: firstNumber + chunkCount, byteCount: total)
      }
    }
    batch.setContent(0..<count + (batch.isLast ? AEADAlgorithm.tagByteCount : 0))
  }
}

/// The keys of one message, and how it is cut.
struct SEIPDv2Keys: Sendable {
  let suite: AEADCiphersuite
  /// Octets of plaintext in a chunk.
  let chunkByteCount: Int
  /// The fields of the header that every chunk authenticates.
  private let fields: [UInt8]
  /// The message key, and after it the beginning of the nonces.
  private let derived: SharedSecretBytes
  private let keyByteCount: Int

  /// - Throws: ``OpenPGPError/unsupported(_:)``; ``OpenPGPError/malformed(_:)`` with `sessionKey` for a key of
  ///   another length than the cipher's.
  init(
    _ suite: AEADCiphersuite, chunkOctet: UInt8, salt: [UInt8], sessionKey: SharedSecretBytes
  ) throws(OpenPGPError) {
    guard let keyByteCount = suite.cipher.keyByteCount else {
      throw .unsupported(.symmetricAlgorithm(suite.cipher.rawValue))
    }
    guard let nonceByteCount = suite.aead.nonceByteCount else {
      throw .unsupported(.aeadAlgorithm(suite.aead.rawValue))
    }
    guard sessionKey.count == keyByteCount else { throw .malformed(.sessionKey) }
    self.suite = suite
    self.keyByteCount = keyByteCount
    chunkByteCount = 1 << (Int(chunkOctet) + 6)
    let fields =
      [0xC0 | PacketType.seipd.rawValue, 2]
      + [suite.cipher.rawValue, suite.aead.rawValue, chunkOctet]
    self.fields = fields
    derived = SharedSecretBytes(
      sessionKey.withBytes { key in
        HKDF.derive(
          .sha256, ikm: key, salt: salt.rawSpan, info: fields,
          byteCount: keyByteCount + nonceByteCount - 8)
      })
  }

  /// A cipher for any number of chunks, on one thread.
  func cipher(_ direction: AEADCipher.Direction) throws(OpenPGPError) -> SEIPDv2ChunkCipher {
    try derived.withBytes { (derived) throws(OpenPGPError) in
      SEIPDv2ChunkCipher(
        try AEADCipher(suite.cipher, suite.aead, direction, key: derived.extracting(0..<keyByteCount)),
        nonceStart: [UInt8](copying: derived.extracting(keyByteCount..<derived.byteCount)), fields: fields)
    }
  }
}

/// Seals or opens the chunks of a message, on one thread.
final class SEIPDv2ChunkCipher {
  private var cipher: AEADCipher
  private let nonceStart: [UInt8]
  private let fields: [UInt8]

  init(_ cipher: consuming AEADCipher, nonceStart: [UInt8], fields: [UInt8]) {
    self.cipher = cipher
    self.nonceStart = nonceStart
    self.fields = fields
  }

  /// Encrypts all but the last 16 octets of `chunk`, and writes the tag there.
  func seal(_ chunk: inout MutableRawSpan, number: Int) { seal(&chunk, nonce(number), fields) }

  /// Decrypts all but the last 16 octets of `chunk`.
  /// - Throws: ``OpenPGPError/notAuthentic``.
  func open(_ chunk: inout MutableRawSpan, number: Int) throws(OpenPGPError) {
    try open(&chunk, nonce(number), fields)
  }

  /// Writes the tag of the whole message: of `chunkCount` chunks with `byteCount` octets in all.
  func sealEnd(_ tag: inout MutableRawSpan, chunkCount: Int, byteCount: Int) {
    seal(&tag, nonce(chunkCount), lastFields(byteCount))
  }

  /// Compares the tag of the whole message.
  /// - Throws: ``OpenPGPError/notAuthentic``.
  func openEnd(_ tag: inout MutableRawSpan, chunkCount: Int, byteCount: Int) throws(OpenPGPError) {
    try open(&tag, nonce(chunkCount), lastFields(byteCount))
  }

  private func seal(_ bytes: inout MutableRawSpan, _ nonce: [UInt8], _ fields: [UInt8]) {
    cipher.seal(&bytes, nonce: nonce.rawSpan, authenticating: fields.rawSpan)
  }

  private func open(
    _ bytes: inout MutableRawSpan, _ nonce: [UInt8], _ fields: [UInt8]
  ) throws(OpenPGPError) {
    try cipher.open(&bytes, nonce: nonce.rawSpan, authenticating: fields.rawSpan)
  }

  private func nonce(_ number: Int) -> [UInt8] {
    var nonce = nonceStart
    nonce.append(bigEndian: UInt64(number))
    return nonce
  }

  private func lastFields(_ byteCount: Int) -> [UInt8] {
    var fields = fields
    fields.append(bigEndian: UInt64(byteCount))
    return fields
  }
}

/// How the chunks of a message of version 2 lie in the batches that they are worked on in.
struct SEIPDv2Layout {
  /// Octets of plaintext in a chunk.
  let chunkByteCount: Int
  /// Chunks in a batch.
  let batchChunkCount: Int

  init(chunkByteCount: Int) {
    self.chunkByteCount = chunkByteCount
    batchChunkCount = max(1, Self.batchByteCount / chunkByteCount)
  }

  /// Octets of a whole chunk with its tag.
  var sealedByteCount: Int { chunkByteCount + AEADAlgorithm.tagByteCount }
  /// Room for the chunks of a batch, and for the tag of the whole message.
  var batchRoom: Int { batchChunkCount * sealedByteCount + AEADAlgorithm.tagByteCount }

  /// Where chunk `index` of a batch lies, with its tag, when the batch holds `byteCount` octets of ciphertext.
  func range(_ index: Int, of byteCount: Int) -> Range<Int> {
    let start = index * sealedByteCount
    return start..<min(start + sealedByteCount, byteCount)
  }

  /// How many chunks lie in `byteCount` octets of ciphertext.
  func chunkCount(_ byteCount: Int) -> Int { (byteCount + sealedByteCount - 1) / sealedByteCount }

  /// Octets of plaintext in the batches before batch `number`.
  func plaintextByteCount(beforeBatch number: Int) -> Int { number * batchChunkCount * chunkByteCount }

  /// Large enough that handing over costs nothing; four of them stay below the limit of locked memory.
  private static let batchByteCount = 512 << 10
}
