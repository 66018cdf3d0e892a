// SPDX-License-Identifier: Apache-2.0
//
// From a message to what is signed: the digest, the place of the one-time key, and the digits of the chains.

internal import Secrets

extension SLHDSA {
  /// What a message selects (FIPS 205, 9.2).
  struct Selection {
    /// The leaf of each tree of FORS.
    var forsLeaves: [Int]
    /// The tree in each layer, and the leaf in it, from the lowest layer up.
    var places: [(tree: UInt64, leaf: Int)]
  }

  /// - Parameters:
  ///   - randomizer: R, which the signature begins with.
  ///   - message: parts, one behind another.
  func selection(randomizer: [UInt8], publicKey: [UInt8], message: [[UInt8]]) -> Selection {
    let digestBytes = (forsTrees * forsHeight + 7) / 8
    let treeBits = treeHeight * (layers - 1)
    let treeBytes = (treeBits + 7) / 8
    let leafBytes = (treeHeight + 7) / 8
    var hash = SHAKE256()
    hash.update(randomizer)
    hash.update(publicKey)
    for part in message { hash.update(part) }
    let digest = hash.finish(digestBytes + treeBytes + leafBytes)

    func number(_ bytes: ArraySlice<UInt8>, bits: Int) -> UInt64 {
      bytes.reduce(0) { $0 << 8 | UInt64($1) } & (1 << bits - 1)
    }
    var tree = number(digest[digestBytes..<digestBytes + treeBytes], bits: treeBits)
    var leaf = number(digest[(digestBytes + treeBytes)...], bits: treeHeight)
    var places: [(tree: UInt64, leaf: Int)] = []
    for _ in 0..<layers {
      places.append((tree, Int(leaf)))
      leaf = tree & (1 << treeHeight - 1)
      tree >>= treeHeight
    }
    let forsLeaves = (0..<forsTrees).map { index in
      (0..<forsHeight).reduce(0) { leaf, bit in
        let place = index * forsHeight + bit
        return leaf << 1 | Int(digest[place / 8] >> (7 - place % 8) & 1)
      }
    }
    return Selection(forsLeaves: forsLeaves, places: places)
  }

  /// How far along each chain the signature of a hash is (FIPS 205, 5.2).
  func digits(of hash: [UInt8]) -> [Int] {
    let digits = hash.flatMap { [Int($0 >> 4), Int($0 & 15)] }
    let sum = digits.reduce(0) { $0 + Self.chainLength - 1 - $1 }
    return digits + [sum >> 8, sum >> 4 & 15, sum & 15]
  }

  /// F, H or T of octets, one hash alone.
  func hash(_ publicSeed: [UInt8], _ address: HashAddress, _ parts: [[UInt8]]) -> [UInt8] {
    var hash = SHAKE256()
    hash.update(publicSeed)
    hash.update(address.octets)
    for part in parts { hash.update(part) }
    return hash.finish(n)
  }
}
