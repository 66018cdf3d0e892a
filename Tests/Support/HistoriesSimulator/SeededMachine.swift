// SPDX-License-Identifier: Apache-2.0
//
// Machines that a history runs on in tests. `SeededMachine` has the real curve; `KeyedHashMachine` has signatures and
// agreements by a keyed hash, some hundred times as fast, for a simulator. Both draw their randomness from a seed. What
// they hold is secret nowhere.

import Histories
import Primitives
import Secrets
import SeededGenerators
import Synchronization

/// The randomness and the contents that both machines have.
struct MachineSeed {
  var generator: SeededGenerator
  private var frames: [RecordVersion: [UInt16: SharedSecretBytes]] = [:]

  init(run: UInt64) { generator = SeededGenerator(run: run) }

  mutating func bytes(_ count: Int) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(count + 7)
    while bytes.count < count { bytes.append(bigEndian: generator.next()) }
    return Array(bytes.prefix(count))
  }

  func frame(of content: ContentName) -> SharedSecretBytes? { frames[content.version]?[content.part] }

  mutating func keep(_ frame: SharedSecretBytes, of content: ContentName) {
    frames[content.version, default: [:]][content.part] = frame
  }

  mutating func drop(_ version: RecordVersion) { frames[version] = nil }

  /// Has the contents of another machine from here on.
  mutating func takeContents(of other: MachineSeed) { frames = other.frames }
}

extension SeededGenerator {
  /// A generator whose numbers have nothing to do with those of another stream: SplitMix64 steps through one cycle, and
  /// neighbours in it would repeat each other.
  init(stream: UInt64) { self.init(seed: Self.first(of: stream)) }

  /// The first number of a stream.
  static func first(of stream: UInt64) -> UInt64 {
    var first = SeededGenerator(run: stream)
    return first.next()
  }
}

extension SharedSecretBytes {
  convenience init(testing bytes: [UInt8]) { self.init(SecretBytes(copying: bytes.rawSpan)) }

  var testBytes: [UInt8] { withBytes { [UInt8](copying: $0) } }
}

// MARK: The real curve

/// A machine with P-256. Its first key pairs are always the same, so that examples can be pinned; later ones, and
/// signatures, are random.
struct SeededMachine: Machine {
  /// The device's keys.
  let signing: KeyPair
  let agreement: KeyPair
  private var seed: MachineSeed
  private var pairsMade = 0

  /// - Parameter firstPair: how many of the known pairs are passed over.
  init(run: UInt64, firstPair: Int = 0) {
    seed = MachineSeed(run: run)
    signing = Self.knownPair(firstPair) ?? Self.newPair()
    agreement = Self.knownPair(firstPair + 1) ?? Self.newPair()
    pairsMade = firstPair + 2
  }

  mutating func random(_ count: Int) -> [UInt8] { seed.bytes(count) }

  mutating func randomSecret(_ count: Int) -> SharedSecretBytes {
    SharedSecretBytes(testing: seed.bytes(count))
  }

  mutating func makeKeyPair() -> KeyPair {
    defer { pairsMade += 1 }
    return Self.knownPair(pairsMade) ?? Self.newPair()
  }

  func signature(of message: [UInt8], by key: PrivateKey) -> [UInt8] {
    let pair = pair(key, device: signing)
    guard let signature = try? Self.key(pair).signature(digest: SHA256.hash(message.rawSpan)) else {
      preconditionFailure("a digest can be signed")
    }
    guard let low = LowSignature(der: signature) else { preconditionFailure("libcrypto writes DER") }
    return low.bytes
  }

  func isSignature(_ signature: [UInt8], of message: [UInt8], by publicKey: [UInt8]) -> Bool {
    guard let low = LowSignature(signature) else { return false }
    return P256.isValidSignature(low.der, digest: SHA256.hash(message.rawSpan), publicKey: publicKey)
  }

  func sharedSecret(with publicKey: [UInt8], by key: PrivateKey) -> SharedSecretBytes? {
    guard let key = try? Self.key(pair(key, device: agreement)),
      let secret = try? key.sharedSecret(with: publicKey)
    else { return nil }
    return SharedSecretBytes(secret)
  }

  func frame(of content: ContentName) -> SharedSecretBytes? { seed.frame(of: content) }

  func hasFrame(of content: ContentName) -> Bool { seed.frame(of: content) != nil }

  mutating func keep(_ frame: SharedSecretBytes, of content: ContentName) { seed.keep(frame, of: content) }

  private func pair(_ key: PrivateKey, device: KeyPair) -> KeyPair {
    switch key {
    case .device: device
    case .memory(let pair): pair
    }
  }

  private static func key(_ pair: KeyPair) throws(CryptoError) -> P256PrivateKey {
    try P256PrivateKey(
      scalar: pair.privateKey.withBytes { SecretBytes(copying: $0) }, publicKey: pair.publicKey)
  }

  private static func newPair() -> KeyPair {
    let key = P256PrivateKey()
    return KeyPair(privateKey: SharedSecretBytes(key.scalar()), publicKey: key.publicKey)
  }

  private static func knownPair(_ index: Int) -> KeyPair? {
    guard index < knownPairs.count else { return nil }
    return KeyPair(
      privateKey: SharedSecretBytes(testing: bytes(knownPairs[index].0)),
      publicKey: bytes(knownPairs[index].1))
  }

  private static func bytes(_ digits: String) -> [UInt8] {
    let digits = digits.compactMap(\.hexDigitValue)
    return stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
  }

  /// Scalars and points; the scalars are SHA-256 of "coffer test key 1" to "coffer test key 8", modulo the order less 1,
  /// plus 1.
  private static let knownPairs = [
    (
      "f36cd73250314a03269597c375b2ae1de79eaf23bdd0bef2d2e2ee37eb4f0f99",
      "04975b77a49bc12cecc614322de56d94ec8ac86f732e6b113ca98ad479aee51dbb"
        + "0e2e62fb56ca8705a61565b64d0778975f897baae46f336c1c3737d0ffeb89b5"
    ),
    (
      "d9b117a085e7c69446a32d94f44824273b2b62d481c8aec9826f8f13b670558f",
      "047eb907397b22253b5e27b22e399de5c3844c3b7c36c8ac01ae7bf893647e7f3e"
        + "4e5fc3d2e09c199454e7ea083387f0d9f807e15f6a21a0f2b37d5384979b9b0e"
    ),
    (
      "b5b7de57312f84bb5c4a1b9d3a7ad13f95e620512b6186b6f7e18ed120aa1793",
      "0453be2d18e777d64de5dd072ae0fc0c659354e016321ac84f7e1f95cbe37eee22"
        + "ebc509a961d758c8c3e7a8608a0e6d446cb002c88025a07b480b0894cf7bc425"
    ),
    (
      "283c561e89da799a0ded8fe965e87eb9b0c99d77e0f8030bee78e44cd2d05d50",
      "0420f291b79371443ee66958ece340c613b95d7963f5d57abec2e775440434e922"
        + "c2bb8f8499c0b25d56603ab90291456a9f4c1f7ee836478e7857e78533f6cc53"
    ),
    (
      "07659d706f46fc91af741d259ce08b713753a77c2eebfa2999d29970924fa77a",
      "0420d07a4d569409c8e35131fa4f252cf640866e1a87c6b2ee321d7e9fb9dd329c"
        + "6ab944409841659ffac1509abad77ec4e70ba05914187574f0560ecf4df136a1"
    ),
    (
      "065836237bd5f5c3adc083fc8ff61e775e7b4ccbb37175acc0f2c2e10d7d4146",
      "04cc2bfd5ebe6537f38ff0f3c57803101c0242decce14d039608f2e7071c9bb44d"
        + "b21345a59747a9d322e69b2cb1a34e52a43e08e50f389cf3e32a1b7bfa722af0"
    ),
    (
      "2c253985129dd618245e931582a026c5aa3a85f7ddb71d43f44865720421112f",
      "047c8092d33e74c9de8e1baa6f946da6da2ac6e860c2d6eb5b951b420080c841a0"
        + "1ebafb21b761ef76e55eabc5176d0a0ff3f25f7c125a00675ceeccdb32dd5925"
    ),
    (
      "3d5b9a2a4c2bd09cd09928ec19833d82d28040f8077dcd7ed7083c003bdcc4d4",
      "04a239d242f0a9cbff35a92ec9e2d25636062e0f61722c23b86c20a23280435c86"
        + "76cf2eb17346914a4f91a22436205dc2abefeaacd479d46a1991d636742caf68"
    ),
  ]
}

// MARK: Keyed hashes

/// All private keys of a simulated world, by their public keys.
final class KeyTable: Sendable {
  private let privateKeys = Mutex<[[UInt8]: [UInt8]]>([:])

  func add(_ privateKey: [UInt8]) -> KeyPair {
    let publicKey =
      [4] + SHA256.hash((privateKey + [1]).rawSpan) + SHA256.hash((privateKey + [2]).rawSpan)
    privateKeys.withLock { $0[publicKey] = privateKey }
    return KeyPair(privateKey: SharedSecretBytes(testing: privateKey), publicKey: publicKey)
  }

  func privateKey(of publicKey: [UInt8]) -> [UInt8]? { privateKeys.withLock { $0[publicKey] } }
}

/// A machine whose signatures and agreements are keyed hashes. A public key is one only if its table knows the private
/// one. Everything is deterministic.
struct KeyedHashMachine: Machine {
  /// The device's keys.
  let signing: KeyPair
  let agreement: KeyPair
  private let table: KeyTable
  private var seed: MachineSeed

  init(run: UInt64, table: KeyTable) {
    var seed = MachineSeed(run: run)
    signing = table.add(seed.bytes(32))
    agreement = table.add(seed.bytes(32))
    self.seed = seed
    self.table = table
  }

  mutating func random(_ count: Int) -> [UInt8] { seed.bytes(count) }

  mutating func randomSecret(_ count: Int) -> SharedSecretBytes {
    SharedSecretBytes(testing: secret(count))
  }

  mutating func makeKeyPair() -> KeyPair { table.add(secret(32)) }

  /// Two copies of a machine draw the same bytes; none of them may be a key here and public there.
  private mutating func secret(_ count: Int) -> [UInt8] {
    Array(SHA256.hash((Array("secret".utf8) + seed.bytes(32)).rawSpan).prefix(count))
  }

  func signature(of message: [UInt8], by key: PrivateKey) -> [UInt8] {
    switch key {
    case .device: Self.signature(of: message, signing.privateKey.testBytes)
    case .memory(let pair): Self.signature(of: message, pair.privateKey.testBytes)
    }
  }

  func isSignature(_ signature: [UInt8], of message: [UInt8], by publicKey: [UInt8]) -> Bool {
    guard let key = table.privateKey(of: publicKey) else { return false }
    return Self.signature(of: message, key) == signature
  }

  func isPublicKey(_ key: [UInt8]) -> Bool { table.privateKey(of: key) != nil }

  func sharedSecret(with publicKey: [UInt8], by key: PrivateKey) -> SharedSecretBytes? {
    guard let other = table.privateKey(of: publicKey) else { return nil }
    let mine: [UInt8] =
      switch key {
      case .device: agreement.privateKey.testBytes
      case .memory(let pair): pair.privateKey.testBytes
      }
    let both = mine.lexicographicallyPrecedes(other) ? mine + other : other + mine
    return SharedSecretBytes(testing: SHA256.hash(both.rawSpan))
  }

  func frame(of content: ContentName) -> SharedSecretBytes? { seed.frame(of: content) }

  func hasFrame(of content: ContentName) -> Bool { seed.frame(of: content) != nil }

  mutating func keep(_ frame: SharedSecretBytes, of content: ContentName) { seed.keep(frame, of: content) }

  mutating func drop(_ version: RecordVersion) { seed.drop(version) }

  mutating func takeContents(of other: KeyedHashMachine) { seed.takeContents(of: other.seed) }

  /// 64 bytes: a code of the message, and one of the code.
  private static func signature(of message: [UInt8], _ key: [UInt8]) -> [UInt8] {
    let code = HMACSHA256.code(of: message.rawSpan, key: key.rawSpan)
    return code + HMACSHA256.code(of: code.rawSpan, key: key.rawSpan)
  }
}
