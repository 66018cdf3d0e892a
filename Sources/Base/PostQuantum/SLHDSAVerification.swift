// SPDX-License-Identifier: Apache-2.0
//
// Verification (FIPS 205, 9.3): the root is computed from the signature, from the trees of FORS up. The chains of a key
// are finished side by side, those with the most steps left first.

internal import Secrets

extension SLHDSA {
  /// - Parameter message: parts, one behind another, with what FIPS 205 puts in front of a message.
  func isValid(
    _ signature: [UInt8], of message: [[UInt8]], publicKey: [UInt8], lanes: Int = KeccakLanes.best
  ) -> Bool {
    guard signature.count == signatureByteCount, publicKey.count == publicKeyByteCount else { return false }
    let selection = selection(randomizer: Array(signature.prefix(n)), publicKey: publicKey, message: message)
    let publicSeed = Array(publicKey.prefix(n))
    let keySignatures = n * (1 + forsTrees * (1 + forsHeight))
    let root = KeccakLanes.with(
      lanes: lanes, nodeByteCount: n, nodeCount: Node.count
    ) { hashes in
      var hashes = hashes
      hashes.setPublicSeed(publicSeed.rawSpan)
      let roots = forsRoots(signature[n..<keySignatures], selection, &hashes)
      var signed = hash(publicSeed, forsRootsAddress(selection), roots)
      var rest = signature[keySignatures...]
      for (layer, place) in selection.places.enumerated() {
        let address = HashAddress(
          layer: UInt32(layer), tree: place.tree, kind: .chain, keyPair: UInt32(place.leaf))
        let ends = chainEnds(rest.prefix(n * chains), of: signed, address, &hashes)
        signed = treeRoot(
          leaf: hash(publicSeed, address.with(.wotsPublicKey), ends), path: rest.dropFirst(n * chains), place,
          layer: layer, publicSeed: publicSeed)
        rest = rest.dropFirst(n * (chains + treeHeight))
      }
      return signed
    }
    return root == publicKey.suffix(n)
  }

  func forsRootsAddress(_ selection: Selection) -> HashAddress {
    HashAddress(
      layer: 0, tree: selection.places[0].tree, kind: .forsRoots, keyPair: UInt32(selection.places[0].leaf))
  }

  /// The roots of the trees of FORS, several trees side by side (FIPS 205, 8.4).
  private func forsRoots(
    _ signature: ArraySlice<UInt8>, _ selection: Selection, _ hashes: inout KeccakLanes
  ) -> [[UInt8]] {
    let byteCount = n * (1 + forsHeight)
    var roots: [[UInt8]] = []
    for first in stride(from: 0, to: forsTrees, by: hashes.lanes) {
      let trees = first..<min(first + hashes.lanes, forsTrees)
      for level in 0...forsHeight {
        for tree in trees {
          let lane = tree - first
          let leaf = selection.forsLeaves[tree]
          let offset = signature.startIndex + tree * byteCount + level * n
          let value = Array(signature[offset..<offset + n])
          if level == 0 {
            hashes.set(Node.value, lane: lane, to: value.rawSpan)
          } else {
            let isRight = leaf >> (level - 1) & 1 == 1
            hashes.copy(Node.value, lane: lane, to: isRight ? Node.right : Node.left, lane: lane)
            hashes.set(isRight ? Node.left : Node.right, lane: lane, to: value.rawSpan)
          }
          var address = HashAddress(
            layer: 0, tree: selection.places[0].tree, kind: .forsTree,
            keyPair: UInt32(selection.places[0].leaf))
          address.chain = UInt32(level)
          address.index = UInt32((tree << forsHeight + leaf) >> level)
          hashes.setAddress(address, lane: lane)
        }
        if level == 0 {
          hashes.hash(Node.value, into: Node.value)
        } else {
          hashes.hash(Node.left, Node.right, into: Node.value)
        }
      }
      for tree in trees { roots.append(hashes.bytes(of: Node.value, lane: tree - first)) }
    }
    return roots
  }

  /// The ends of the chains of a WOTS+ key (FIPS 205, 5.3).
  private func chainEnds(
    _ signature: ArraySlice<UInt8>, of signed: [UInt8], _ address: HashAddress, _ hashes: inout KeccakLanes
  ) -> [[UInt8]] {
    let last = Self.chainLength - 1
    let digits = digits(of: signed)
    let order = digits.indices.sorted { digits[$0] < digits[$1] }
    var ends = [[UInt8]](repeating: [], count: chains)
    for first in stride(from: 0, to: chains, by: hashes.lanes) {
      let batch = order[first..<min(first + hashes.lanes, chains)]
      for (lane, chain) in batch.enumerated() {
        var address = address
        address.chain = UInt32(chain)
        hashes.setAddress(address, lane: lane)
      }
      var next = batch.startIndex
      while next < batch.endIndex {
        // All that begin here, and then the steps to where the next one does.
        let step = digits[batch[next]]
        while next < batch.endIndex, digits[batch[next]] == step {
          let offset = signature.startIndex + batch[next] * n
          let value = Array(signature[offset..<offset + n])
          hashes.set(Node.chain + step, lane: next - first, to: value.rawSpan)
          next += 1
        }
        hashes.chain(Node.chain, from: step, to: next < batch.endIndex ? digits[batch[next]] : last)
      }
      for (lane, chain) in batch.enumerated() {
        ends[chain] = hashes.bytes(of: Node.chain + last, lane: lane)
      }
    }
    return ends
  }

  /// The root of a tree of WOTS+ keys, from a leaf and the path (FIPS 205, 6.3).
  private func treeRoot(
    leaf: [UInt8], path: ArraySlice<UInt8>, _ place: (tree: UInt64, leaf: Int), layer: Int,
    publicSeed: [UInt8]
  ) -> [UInt8] {
    var node = leaf
    for level in 0..<treeHeight {
      let offset = path.startIndex + level * n
      let neighbour = Array(path[offset..<offset + n])
      let address = HashAddress(
        layer: UInt32(layer), tree: place.tree, kind: .tree, chain: UInt32(level + 1),
        index: UInt32(place.leaf >> (level + 1)))
      let isRight = place.leaf >> level & 1 == 1
      node = hash(publicSeed, address, isRight ? [neighbour, node] : [node, neighbour])
    }
    return node
  }

  /// Where things are among the nodes of ``KeccakLanes``.
  private enum Node {
    static let value = 0
    static let left = 1
    static let right = 2
    /// Those of a chain, 16.
    static let chain = 3
    static let count = 19
  }
}
