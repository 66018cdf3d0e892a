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

  func frame(of record: RecordID, version: Version) -> SharedSecretBytes? {
    hashed.frame(of: record, version: version)
  }

  func hasFrame(of record: RecordID, version: Version) -> Bool {
    hashed.hasFrame(of: record, version: version)
  }

  private func memory(_ key: PrivateKey, device: KeyPair) -> PrivateKey {
    if case .memory = key { key } else { .memory(device) }
  }

  // MARK: The driver's side

  mutating func keep(_ frame: SharedSecretBytes, of record: RecordID, _ version: Version) {
    hashed.keep(frame, of: record, version)
  }

  mutating func drop(_ record: RecordID, _ version: Version) { hashed.drop(record, version) }

  /// The content of a version as an array; nothing in a simulation is secret.
  func content(of record: RecordID, _ version: Version) -> [UInt8]? {
    frame(of: record, version: version)?.testBytes
  }

  /// Another machine with the same contents: new keys, and other random bytes from here on.
  func renewed(run: UInt64, contents: [RecordVersion]) -> SimulatedMachine {
    var new = SimulatedMachine(run: run, table: table, isReal: isReal)
    for name in contents {
      if let frame = frame(of: name.record, version: name.version) {
        new.keep(frame, of: name.record, name.version)
      }
    }
    return new
  }
}
