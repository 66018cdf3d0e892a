// SPDX-License-Identifier: Apache-2.0
//
// Signing (FIPS 205, 9.2). The message selects all trees at once, so two threads take one tree after another until there
// are none left; the chains of the keys that sign the roots are kept meanwhile.

internal import CSystem
internal import Dispatch
internal import Secrets
internal import Synchronization

extension SLHDSA {
  /// - Parameters:
  ///   - message: parts, one behind another, with what FIPS 205 puts in front of a message.
  ///   - random: n octets, opt_rand.
  func sign(
    _ message: [[UInt8]], secretKey: RawSpan, random: [UInt8], lanes: Int = KeccakLanes.best, threads: Int = 2
  ) -> [UInt8] {
    defer { coffer_erase_stack() }
    let publicKey = copied(secretKey.extracting(droppingFirst: 2 * n))
    var hash = SHAKE256()
    hash.update(secretKey.extracting(n..<2 * n))
    hash.update(random)
    for part in message { hash.update(part) }
    let randomizer = hash.finish(n)
    let selection = selection(randomizer: randomizer, publicKey: publicKey, message: message)
    let trees = TreesToSign(
      scheme: self, selection: selection, publicSeed: Array(publicKey.prefix(n)),
      secretSeed: SharedSecretBytes(SecretBytes(copying: secretKey.extracting(first: n))), lanes: lanes)
    if threads == 1 {
      trees.make()
    } else {
      DispatchQueue.concurrentPerform(iterations: threads) { _ in trees.make() }
    }
    return trees.signature(randomizer: randomizer)
  }

  /// PK.root of a private key (FIPS 205, 9.1).
  func computedRoot(secretKey: RawSpan, lanes: Int = KeccakLanes.best) -> [UInt8] {
    defer { coffer_erase_stack() }
    return TreeMaker.with(
      self, secretSeed: secretKey.extracting(first: n), publicSeed: secretKey.extracting(2 * n..<3 * n),
      lanes: lanes, signs: false
    ) { maker in
      maker.keyTree(layer: layers - 1, tree: 0, signer: nil).root
    }
  }
}

/// The trees of one signature, which threads make.
private final class TreesToSign: Sendable {
  private let scheme: SLHDSA
  private let selection: SLHDSA.Selection
  private let publicSeed: [UInt8]
  private let secretSeed: SharedSecretBytes
  private let lanes: Int
  /// The next tree to make: those of the layers come first, because they take longer.
  private let next = Atomic(0)
  private let made: Mutex<Made>

  private struct Made: ~Copyable {
    var keyTrees: [HashTree?]
    /// Those of each layer's key, one layer behind another.
    var chains: SecretBytes
    var forsTrees: [(tree: HashTree, secret: [UInt8])?]
  }

  init(
    scheme: SLHDSA, selection: SLHDSA.Selection, publicSeed: [UInt8], secretSeed: SharedSecretBytes,
    lanes: Int
  ) {
    self.scheme = scheme
    self.selection = selection
    self.publicSeed = publicSeed
    self.secretSeed = secretSeed
    self.lanes = lanes
    made = Mutex(
      Made(
        keyTrees: Array(repeating: nil, count: scheme.layers),
        chains: SecretBytes(zeroed: scheme.layers * scheme.chainsByteCount),
        forsTrees: Array(repeating: nil, count: scheme.forsTrees)))
  }

  /// Makes trees until none is left.
  func make() {
    defer { coffer_erase_stack() }
    let publicSeed = publicSeed
    secretSeed.withBytes { secretSeed in
      TreeMaker.with(
        scheme, secretSeed: secretSeed, publicSeed: publicSeed.rawSpan, lanes: lanes, signs: true
      ) { maker in
        while true {
          let number = next.add(1, ordering: .relaxed).oldValue
          if number < scheme.layers {
            let place = selection.places[number]
            let result = maker.keyTree(layer: number, tree: place.tree, signer: place.leaf)
            made.withLock { made in
              made.keyTrees[number] = result
              made.chains.copy(maker.chains, at: number * scheme.chainsByteCount)
            }
          } else if number < scheme.layers + scheme.forsTrees {
            let fors = number - scheme.layers
            let result = maker.forsTree(
              fors, leaf: selection.forsLeaves[fors], tree: selection.places[0].tree,
              keyPair: selection.places[0].leaf)
            made.withLock { $0.forsTrees[fors] = result }
          } else {
            return
          }
        }
      }
    }
  }

  /// The signature, when all trees are made.
  func signature(randomizer: [UInt8]) -> [UInt8] {
    made.withLock { signature(of: $0, randomizer: randomizer) }
  }

  private func signature(of made: borrowing Made, randomizer: [UInt8]) -> [UInt8] {
    var signature = randomizer
    signature.reserveCapacity(scheme.signatureByteCount)
    var roots: [[UInt8]] = []
    for case let fors? in made.forsTrees {
      signature += fors.secret + fors.tree.path.joined()
      roots.append(fors.tree.root)
    }
    var signed = scheme.hash(publicSeed, scheme.forsRootsAddress(selection), roots)
    for case (let layer, let tree?) in made.keyTrees.enumerated() {
      made.chains.withBytes { values in
        for (chain, digit) in scheme.digits(of: signed).enumerated() {
          let offset = layer * scheme.chainsByteCount + (chain * SLHDSA.chainLength + digit) * scheme.n
          signature += scheme.copied(values.extracting(offset..<offset + scheme.n))
        }
      }
      signature += tree.path.joined()
      signed = tree.root
    }
    precondition(signature.count == scheme.signatureByteCount, "every tree is made")
    return signature
  }
}

extension SecretBytes {
  /// Copies all of `other` to the octets from `offset` on.
  fileprivate mutating func copy(_ other: borrowing SecretBytes, at offset: Int) {
    other.withBytes { source in
      withMutableBytes { target in
        unsafe source.withUnsafeBytes { source in
          unsafe target.withUnsafeMutableBytes { target in
            unsafe UnsafeMutableRawBufferPointer(rebasing: target[offset..<offset + source.count])
              .copyMemory(from: source)
          }
        }
      }
    }
  }
}
