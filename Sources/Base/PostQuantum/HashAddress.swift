// SPDX-License-Identifier: Apache-2.0

/// ADRS of FIPS 205, 4.2: what a hash of SLH-DSA is for. Its numbers are big-endian in 32 octets, which Keccak takes in
/// as four little-endian words.
struct HashAddress {
  /// What is hashed, with its number.
  enum Kind: UInt32 {
    case chain = 0
    case wotsPublicKey = 1
    case tree = 2
    case forsTree = 3
    case forsRoots = 4
    case wotsSecret = 5
    case forsSecret = 6
  }

  var layer: UInt32
  /// The tree in its layer; the number has 12 octets, of which no parameter set needs more than 8.
  var tree: UInt64
  var kind: Kind
  var keyPair: UInt32 = 0
  /// The chain, or the height in a tree.
  var chain: UInt32 = 0
  /// The step in a chain, or the index in a tree.
  var index: UInt32 = 0

  func with(_ kind: Kind) -> HashAddress {
    var other = self
    other.kind = kind
    return other
  }

  var word0: UInt64 { UInt64(layer.byteSwapped) }
  var word1: UInt64 { tree.byteSwapped }
  var word2: UInt64 { UInt64(kind.rawValue.byteSwapped) | UInt64(keyPair.byteSwapped) << 32 }
  var word3: UInt64 { UInt64(chain.byteSwapped) | UInt64(index.byteSwapped) << 32 }

  /// The 32 octets.
  var octets: [UInt8] {
    [word0, word1, word2, word3].flatMap { word in (0..<8).map { UInt8(truncatingIfNeeded: word >> (8 * $0)) }
    }
  }
}
