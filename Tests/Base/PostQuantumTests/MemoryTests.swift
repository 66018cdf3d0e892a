// SPDX-License-Identifier: Apache-2.0
//
// After an operation, the memory of the process holds neither half of its secrets: not in our cells, not where
// BoringSSL works, not on the stacks of the threads.

import MemorySearch
import Primitives
import Secrets
import Testing

@testable import PostQuantum

@Suite("What post-quantum keys leave in memory")
struct MemoryTests {
  /// What a secret is, and the operation that uses it.
  enum Use: String, CaseIterable, Sendable {
    case kemSeedOfPublicKey, kemSeed, kemSeedOfRejected, kemExpanded, kemEncapsulated, kemDecapsulated
    case kemRejected
    case signatureSeedOfPublicKey, signatureSeed, signatureKey, signatureExpanded
  }

  /// The same for SLH-DSA: parts of the key, and what a signature makes of them and does not show.
  enum HashUse: String, CaseIterable, Sendable {
    case seedOfGenerated, seedOfPublicKey, seed, messageKey, chainStart, chainValue, forsSecret
  }

  /// Runs the operation away from the stack frames that search later.
  @inline(never)
  private func use(_ use: Use, _ kem: MLKEM, _ scheme: MLDSA) throws -> (needle: Needle, seenWhileAlive: Int)
  {
    switch use {
    case .kemSeedOfPublicKey, .kemSeed, .kemSeedOfRejected, .kemExpanded, .kemEncapsulated, .kemDecapsulated,
      .kemRejected:
      try useKEM(use, kem)
    case .signatureSeedOfPublicKey, .signatureSeed, .signatureKey, .signatureExpanded:
      try useSignature(use, scheme)
    }
  }

  private func useKEM(_ use: Use, _ kem: MLKEM) throws -> (needle: Needle, seenWhileAlive: Int) {
    let seed = SystemRandom.secretBytes(count: MLKEM.seedByteCount)
    var needle = seed.withBytes { Needle($0) }
    var alive = 0
    func look() throws { alive = try ProcessMemory.places(of: needle).count }
    let publicKey = seed.withBytes { kem.publicKey(seed: $0) }
    if use == .kemSeedOfPublicKey { try look() }
    guard let (sent, secret) = kem.encapsulate(to: publicKey) else { throw Missing() }
    var ciphertext = sent
    if use == .kemEncapsulated {
      needle = secret.withBytes { Needle($0) }
      try look()
    }
    if use == .kemSeedOfRejected || use == .kemRejected { ciphertext[0] ^= 1 }
    guard let opened = seed.withBytes({ kem.decapsulate(ciphertext, seed: $0) }) else { throw Missing() }
    if use == .kemExpanded {
      // s, in 16 bits each, behind the public key.
      let (offset, count) = kem == .mlkem768 ? (6208, 1536) : (10304, 2048)
      try seed.withBytes { seed in
        try kem.withPrivateKey(seed: seed) { key in
          needle = Needle(RawSpan(_unsafeStart: key + offset + count - 64, byteCount: 64))
          try look()
        }
      }
      // Without the search in between, which would write over the stack.
      _ = seed.withBytes { kem.decapsulate(ciphertext, seed: $0) }
    }
    if use == .kemDecapsulated || use == .kemRejected {
      needle = opened.withBytes { Needle($0) }
      try look()
    }
    if use == .kemSeed || use == .kemSeedOfRejected { try look() }
    #expect(secret.count == 32 && opened.count == 32 && seed.count == 64)
    return (needle, alive)
  }

  private func useSignature(_ use: Use, _ scheme: MLDSA) throws -> (needle: Needle, seenWhileAlive: Int) {
    let seed = SystemRandom.secretBytes(count: MLDSA.seedByteCount)
    var needle = seed.withBytes { Needle($0) }
    var alive = 0
    func look() throws { alive = try ProcessMemory.places(of: needle).count }
    let publicKey = seed.withBytes { scheme.publicKey(seed: $0) }
    if use == .signatureSeedOfPublicKey { try look() }
    let message = SystemRandom.publicBytes(count: 64)
    let signature = seed.withBytes { scheme.sign(message, seed: $0) }
    if use == .signatureKey || use == .signatureExpanded {
      // K, and s1 in 32 bits each, behind ρ, K and tr.
      let (offset, count) = use == .signatureKey ? (32, 32) : (128, 64)
      try seed.withBytes { seed in
        try scheme.withPrivateKey(seed: seed) { key in
          needle = Needle(RawSpan(_unsafeStart: key + offset, byteCount: count))
          try look()
        }
      }
      _ = seed.withBytes { scheme.sign(message, seed: $0) }
    }
    if use == .signatureSeed { try look() }
    #expect(scheme.isValid(signature, of: message, publicKey: publicKey) && seed.count == 32)
    return (needle, alive)
  }

  private func useHashes(_ use: HashUse, lanes: Int) throws -> (needle: Needle, seenWhileAlive: Int) {
    let scheme = SLHDSA.shake128f
    let n = scheme.n
    let (publicKey, key) = scheme.generate()
    let message = [SystemRandom.publicBytes(count: 64)]
    let random = SystemRandom.publicBytes(count: n)
    var (needle, alive) = (key.withBytes { Needle($0.extracting(first: n)) }, 0)
    func look() throws { alive = try ProcessMemory.places(of: needle).count }
    switch use {
    case .seedOfGenerated:
      try look()
      #expect(key.count == 4 * n && publicKey.count == 2 * n)
      return (needle, alive)
    case .seedOfPublicKey:
      let again = key.withBytes { scheme.publicKey(secretKey: $0) }
      #expect(again == publicKey)
      try look()
      return (needle, alive)
    case .seed: break
    case .messageKey: needle = key.withBytes { Needle($0.extracting(n..<2 * n)) }
    case .chainStart, .chainValue, .forsSecret:
      let signature = key.withBytes { sign(scheme, message, $0, random, lanes) }
      let selection = scheme.selection(
        randomizer: Array(signature.prefix(n)), publicKey: publicKey, message: message)
      // Neighbours of what this signature shows: in the highest layer, and in the first tree of FORS.
      let place = selection.places[0]
      let address =
        use == .forsSecret
        ? HashAddress(
          layer: 0, tree: place.tree, kind: .forsSecret, keyPair: UInt32(place.leaf),
          index: UInt32(selection.forsLeaves[0] ^ 1))
        : HashAddress(
          layer: UInt32(scheme.layers - 1), tree: 0, kind: .wotsSecret,
          keyPair: UInt32(selection.places[scheme.layers - 1].leaf ^ 1), chain: 3)
      let value = secret(at: address, scheme, key, publicKey, step: use == .chainValue ? 7 : 0)
      needle = value.withBytes { Needle($0) }
      try look()
      #expect(value.count == n)
    }
    let signature = key.withBytes { sign(scheme, message, $0, random, lanes) }
    #expect(scheme.isValid(signature, of: message, publicKey: publicKey))
    if use == .seed || use == .messageKey { try look() }
    #expect(key.count == 4 * n)
    return (needle, alive)
  }

  private func sign(
    _ scheme: SLHDSA, _ message: [[UInt8]], _ key: RawSpan, _ random: [UInt8], _ lanes: Int
  ) -> [UInt8] {
    scheme.sign(message, secretKey: key, random: random, lanes: lanes)
  }

  /// A value that is made of SK.seed, so many steps along a chain.
  private func secret(
    at address: HashAddress, _ scheme: SLHDSA, _ key: SharedSecretBytes, _ publicKey: [UInt8], step: Int
  ) -> SecretBytes {
    KeccakLanes.with(lanes: 1, nodeByteCount: scheme.n, nodeCount: 17) { hashes in
      var hashes = hashes
      let seed = Array(publicKey.prefix(scheme.n))
      hashes.setPublicSeed(seed.span.bytes)
      hashes.setAddress(address, lane: 0)
      key.withBytes { hashes.set(16, lane: 0, to: $0.extracting(first: scheme.n)) }
      hashes.hash(16, into: 0)
      hashes.setAddress(address.with(.chain), lane: 0)
      hashes.chain(0, from: 0, to: step)
      var value = SecretBytes(zeroed: scheme.n)
      value.withMutableBytes { hashes.write(step..<step + 1, lane: 0, to: &$0, at: 0) }
      return value
    }
  }

  private struct Missing: Error {}

  @Test("No half of a secret can be found once it is gone", arguments: [0, 1])
  func nothingIsLeft(set: Int) async {
    await #expect(processExitsWith: .success) { [set] in
      recordingErrors {
        for use in Use.allCases { try MemoryTests().expectGone(use, set) }
      }
    }
  }

  private func expectGone(_ use: Use, _ set: Int) throws {
    let (needle, alive) = try self.use(use, MLKEM.allCases[set], MLDSA.allCases[set])
    #expect(alive >= 2, "\(use.rawValue): the search did not see the secret while it was there")
    try ProcessMemory.expectGone(needle, "\(use.rawValue)")
  }

  @Test("No half of a secret of SLH-DSA can be found once it is gone")
  func noHashIsLeft() async {
    await #expect(processExitsWith: .success) {
      recordingErrors {
        for use in HashUse.allCases {
          for lanes in KeccakTests.lanes.suffix(2) { try MemoryTests().expectHashGone(use, lanes) }
        }
      }
    }
  }

  private func expectHashGone(_ use: HashUse, _ lanes: Int) throws {
    let (needle, alive) = try useHashes(use, lanes: lanes)
    #expect(alive >= 2, "\(use.rawValue): the search did not see the secret while it was there")
    try ProcessMemory.expectGone(needle, "\(use.rawValue), \(lanes) lanes")
  }
}
