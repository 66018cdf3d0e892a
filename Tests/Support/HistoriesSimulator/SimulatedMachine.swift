// SPDX-License-Identifier: Apache-2.0
//
// The machine of a simulated device: with keyed hashes, fast and the same for the same seed, or with the real curve. It
// is a value, so that a crash or a copy of a disk is an assignment.

import Histories
import Primitives
import Secrets
import SeededGenerators

struct SimulatedMachine: Machine, Sendable {
  /// Randomness and contents; with keyed hashes also the keys.
  private var hashed: KeyedHashMachine
  /// The device's keys on the real curve.
  private var curveKeys: (signing: KeyPair, agreement: KeyPair)?
  private let table: KeyTable

  /// Signs and agrees with whatever key pair is given.
  private static let curve = SeededMachine(run: 1, firstPair: 1_000)

  init(run: UInt64, table: KeyTable, isReal: Bool) {
    self.table = table
    hashed = KeyedHashMachine(run: SeededGenerator.first(of: run), table: table)
    if isReal { curveKeys = (Self.newCurvePair(), Self.newCurvePair()) }
  }

  var signing: KeyPair { curveKeys?.signing ?? hashed.signing }
  var agreement: KeyPair { curveKeys?.agreement ?? hashed.agreement }
  var isReal: Bool { curveKeys != nil }

  private static func newCurvePair() -> KeyPair {
    let key = P256PrivateKey()
    return KeyPair(privateKey: SharedSecretBytes(key.scalar()), publicKey: key.publicKey)
  }

  // MARK: Machine

  mutating func random(_ count: Int) -> [UInt8] { hashed.random(count) }
  mutating func randomSecret(_ count: Int) -> SharedSecretBytes { hashed.randomSecret(count) }
  mutating func makeKeyPair() -> KeyPair { isReal ? Self.newCurvePair() : hashed.makeKeyPair() }

  func signature(of message: [UInt8], by key: PrivateKey) -> [UInt8] {
    guard let curveKeys else { return hashed.signature(of: message, by: key) }
    return Self.curve.signature(of: message, by: memory(key, device: curveKeys.signing))
  }

  func isSignature(_ signature: [UInt8], of message: [UInt8], by publicKey: [UInt8]) -> Bool {
    isReal
      ? Self.curve.isSignature(signature, of: message, by: publicKey)
      : hashed.isSignature(signature, of: message, by: publicKey)
  }

  func isPublicKey(_ key: [UInt8]) -> Bool {
    isReal ? Self.curve.isPublicKey(key) : hashed.isPublicKey(key)
  }

  func sharedSecret(with publicKey: [UInt8], by key: PrivateKey) -> SharedSecretBytes? {
    guard let curveKeys else { return hashed.sharedSecret(with: publicKey, by: key) }
    return Self.curve.sharedSecret(with: publicKey, by: memory(key, device: curveKeys.agreement))
  }

  func frame(of content: ContentName) -> SharedSecretBytes? { hashed.frame(of: content) }

  func hasFrame(of content: ContentName) -> Bool { hashed.hasFrame(of: content) }

  private func memory(_ key: PrivateKey, device: KeyPair) -> PrivateKey {
    if case .memory = key { key } else { .memory(device) }
  }

  // MARK: The driver's side

  mutating func keep(_ frame: SharedSecretBytes, of content: ContentName) { hashed.keep(frame, of: content) }

  /// The content of a version is that of another one as well.
  mutating func carry(_ former: RecordVersion, to version: RecordVersion) {
    for (part, frame) in parts(of: former).enumerated() {
      keep(SharedSecretBytes(testing: frame), of: ContentName(version, part: UInt16(part)))
    }
  }

  mutating func drop(_ version: RecordVersion) { hashed.drop(version) }

  /// The parts of a version's content that are here, from the first on; nothing in a simulation is secret.
  func parts(of version: RecordVersion) -> [[UInt8]] {
    var parts: [[UInt8]] = []
    while let frame = frame(of: ContentName(version, part: UInt16(parts.count))) {
      parts.append(frame.testBytes)
    }
    return parts
  }

  /// The content of a version; nil if nothing of it is here.
  func content(of version: RecordVersion) -> [UInt8]? {
    let parts = parts(of: version)
    return parts.isEmpty ? nil : parts.flatMap(\.self)
  }

  /// Another machine with the same contents: new keys, and other random bytes from here on.
  func renewed(run: UInt64) -> SimulatedMachine {
    var new = SimulatedMachine(run: run, table: table, isReal: isReal)
    new.hashed.takeContents(of: hashed)
    return new
  }
}
