// SPDX-License-Identifier: Apache-2.0
//
// The trees of SLH-DSA, with a part of the tree in each lane: with eight lanes a tree is cut into eight of the same
// height, whose leaves and nodes are hashed side by side, and the three levels above them are made at the end.

internal import Secrets

/// A tree, as a signature needs it.
struct HashTree: Sendable {
  var root: [UInt8]
  /// The neighbours of the nodes between a leaf and the root, from below.
  var path: [[UInt8]]
}

/// Where things are among the nodes of ``KeccakLanes``.
private enum Node {
  static let secretSeed = 0
  static let leaf = 1
  static let left = 2
  static let right = 3
  /// Those of a chain, 16.
  static let chain = 4
  /// One for each level of a tree.
  static let stack = 20
  /// The ends of the chains of a WOTS+ key.
  static let ends = 36
}

/// Makes the trees of one private key. Its memory, with the seed in it, lasts as long as the closure that it is lent to.
struct TreeMaker: ~Copyable {
  private let scheme: SLHDSA
  private var hashes: KeccakLanes
  /// The values of the chains of the last key to sign with: one chain behind another, 16 values each.
  private(set) var chains: SecretBytes

  /// - Parameter signs: whether to keep chains.
  static func with<R>(
    _ scheme: SLHDSA, secretSeed: RawSpan, publicSeed: RawSpan, lanes: Int, signs: Bool,
    _ body: (inout TreeMaker) -> R
  ) -> R {
    KeccakLanes.with(lanes: lanes, nodeByteCount: scheme.n, nodeCount: Node.ends + scheme.chains) { hashes in
      let chains = SecretBytes(zeroed: signs ? scheme.chainsByteCount : 0)
      var maker = TreeMaker(scheme: scheme, hashes: hashes, chains: chains)
      maker.hashes.setPublicSeed(publicSeed)
      for lane in 0..<lanes { maker.hashes.set(Node.secretSeed, lane: lane, to: secretSeed) }
      return body(&maker)
    }
  }

  private init(scheme: SLHDSA, hashes: consuming KeccakLanes, chains: consuming SecretBytes) {
    self.scheme = scheme
    self.hashes = hashes
    self.chains = chains
  }

  /// A tree of WOTS+ keys (FIPS 205, 6.1).
  /// - Parameter signer: the key to sign with, whose chains are kept.
  mutating func keyTree(layer: Int, tree: UInt64, signer: Int?) -> HashTree {
    let address = HashAddress(layer: UInt32(layer), tree: tree, kind: .tree)
    return self.tree(height: scheme.treeHeight, address: address, firstLeaf: 0, path: signer ?? 0) {
      maker, local, part in
      maker.keyLeaf(address, local, part, signer: signer)
    }
  }

  /// A tree of FORS (FIPS 205, 8.2), and the secret of the leaf that a signature shows.
  mutating func forsTree(
    _ number: Int, leaf: Int, tree: UInt64, keyPair: Int
  ) -> (tree: HashTree, secret: [UInt8]) {
    let address = HashAddress(layer: 0, tree: tree, kind: .forsTree, keyPair: UInt32(keyPair))
    let firstLeaf = number << scheme.forsHeight
    var secret: [UInt8] = []
    let made = self.tree(height: scheme.forsHeight, address: address, firstLeaf: firstLeaf, path: leaf) {
      maker, local, part in
      for kind in [HashAddress.Kind.forsSecret, .forsTree] {
        for lane in 0..<maker.hashes.lanes {
          var address = address
          address.kind = kind
          address.index = UInt32(firstLeaf + lane << part + local)
          maker.hashes.setAddress(address, lane: lane)
        }
        if kind == .forsSecret {
          maker.hashes.hash(Node.secretSeed, into: Node.leaf)
          // This one will be published.
          if leaf & (1 << part - 1) == local {
            secret = maker.hashes.bytes(of: Node.leaf, lane: leaf >> part)
          }
        } else {
          maker.hashes.hash(Node.leaf, into: Node.leaf)
        }
      }
    }
    return (made, secret)
  }

  /// The public keys of the WOTS+ keys `local` of each lane's part, into the node `leaf` (FIPS 205, 5.1).
  private mutating func keyLeaf(_ address: HashAddress, _ local: Int, _ part: Int, signer: Int?) {
    func setAddresses(_ hashes: inout KeccakLanes, _ kind: HashAddress.Kind, chain: Int) {
      for lane in 0..<hashes.lanes {
        var address = address
        address.kind = kind
        address.keyPair = UInt32(lane << part + local)
        address.chain = UInt32(chain)
        hashes.setAddress(address, lane: lane)
      }
    }
    let lastStep = SLHDSA.chainLength - 1
    let signingLane = signer.flatMap { $0 & (1 << part - 1) == local ? $0 >> part : nil }
    for chain in 0..<scheme.chains {
      setAddresses(&hashes, .wotsSecret, chain: chain)
      hashes.hash(Node.secretSeed, into: Node.chain)
      setAddresses(&hashes, .chain, chain: chain)
      hashes.chain(Node.chain, from: 0, to: lastStep)
      hashes.copy(Node.chain + lastStep, to: Node.ends + chain)
      if let signingLane {
        chains.withMutableBytes { bytes in
          hashes.write(
            Node.chain..<Node.chain + SLHDSA.chainLength, lane: signingLane, to: &bytes,
            at: chain * SLHDSA.chainLength * scheme.n)
        }
      }
    }
    setAddresses(&hashes, .wotsPublicKey, chain: 0)
    hashes.hash(Node.ends..<Node.ends + scheme.chains, into: Node.leaf)
  }

  /// A tree of a height, and the path from its leaf `path`.
  /// - Parameter makeLeaf: makes, in each lane, leaf number `local` of that lane's part, which has 2^`part` leaves.
  private mutating func tree(
    height: Int, address: HashAddress, firstLeaf: Int, path target: Int,
    _ makeLeaf: (inout TreeMaker, _ local: Int, _ part: Int) -> Void
  ) -> HashTree {
    let part = height - hashes.lanes.trailingZeroBitCount
    var path = [[UInt8]](repeating: [], count: height)
    func setAddresses(_ hashes: inout KeccakLanes, level: Int, _ index: (_ lane: Int) -> Int) {
      for lane in 0..<hashes.lanes {
        var address = address
        address.chain = UInt32(level)
        address.index = UInt32(firstLeaf >> level + index(lane))
        hashes.setAddress(address, lane: lane)
      }
    }
    // The neighbour of the path's node on a level, if it is the one that each lane has just made.
    func note(_ hashes: borrowing KeccakLanes, level: Int, local: Int) {
      let neighbour = target >> level ^ 1
      if neighbour & (1 << (part - level) - 1) == local {
        path[level] = hashes.bytes(of: Node.leaf, lane: neighbour >> (part - level))
      }
    }

    for local in 0..<1 << part {
      makeLeaf(&self, local, part)
      var level = 0
      while level < part {
        note(hashes, level: level, local: local >> level)
        if local >> level & 1 == 0 { break }
        level += 1
        setAddresses(&hashes, level: level) { lane in (lane << part + local) >> level }
        hashes.hash(Node.stack + level - 1, Node.leaf, into: Node.leaf)
      }
      hashes.copy(Node.leaf, to: Node.stack + level)
    }
    // A node in each lane, of which each level leaves half.
    for level in part..<height {
      path[level] = hashes.bytes(of: Node.leaf, lane: target >> level ^ 1)
      for pair in 0..<1 << (height - level - 1) {
        hashes.copy(Node.leaf, lane: 2 * pair, to: Node.left, lane: pair)
        hashes.copy(Node.leaf, lane: 2 * pair + 1, to: Node.right, lane: pair)
      }
      setAddresses(&hashes, level: level + 1) { $0 }
      hashes.hash(Node.left, Node.right, into: Node.leaf)
    }
    return HashTree(root: hashes.bytes(of: Node.leaf, lane: 0), path: path)
  }
}
