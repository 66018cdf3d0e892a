// SPDX-License-Identifier: Apache-2.0
//
// SHAKE256 on several inputs of one shape at once: a signature of SLH-DSA's small sets takes two or three million of
// them. The states and all values that pass through them are in one piece of locked memory, side by side as CKeccak
// wants them, and are erased with it.

internal import CKeccak
internal import Secrets

/// Hashes side by side, and numbered nodes: values of n octets in every lane, which are hashed and written.
@safe
struct KeccakLanes: ~Copyable {
  /// 1, 4 or 8.
  let lanes: Int
  /// The words of a node: n / 8.
  let words: Int
  /// Words of 25 states, then the head of a hash, then the nodes; word i of lane j at [i * lanes + j].
  private let memory: UnsafeMutablePointer<UInt64>
  /// Words that have come into the block.
  private var filled = 0

  /// What this processor does best.
  static let best = coffer_keccak_lanes()

  /// Lends lanes with so many nodes, all zero.
  static func with<R: ~Copyable>(
    lanes: Int, nodeByteCount: Int, nodeCount: Int, _ body: (consuming KeccakLanes) -> R
  ) -> R {
    let words = nodeByteCount / 8
    var memory = SecretBytes(zeroed: 8 * lanes * (stateWords + words + addressWords + nodeCount * words))
    return memory.withMutableBytes { bytes in
      unsafe bytes.withUnsafeMutableBytes { bytes in
        body(unsafe KeccakLanes(lanes: lanes, words: words, memory: bytes.start))
      }
    }
  }

  private init(lanes: Int, words: Int, memory: UnsafeMutableRawPointer) {
    self.lanes = lanes
    self.words = words
    unsafe self.memory = memory.assumingMemoryBound(to: UInt64.self)
  }

  // MARK: Hashing (FIPS 205, 11.2: PK.seed, ADRS and nodes)

  /// PK.seed, for all hashes to come.
  mutating func setPublicSeed(_ seed: RawSpan) {
    for lane in 0..<lanes { write(seed, at: head, lane: lane) }
  }

  /// ADRS of the next hash, or chain, in a lane.
  @inline(__always)
  mutating func setAddress(_ address: HashAddress, lane: Int) {
    let start = unsafe memory + (head + words) * lanes + lane
    unsafe start[0] = address.word0
    unsafe start[lanes] = address.word1
    unsafe start[2 * lanes] = address.word2
    unsafe start[3 * lanes] = address.word3
  }

  /// F or PRF: one node.
  mutating func hash(_ node: Int, into result: Int) {
    start()
    absorb(node)
    finish(into: result)
  }

  /// H: two nodes.
  mutating func hash(_ left: Int, _ right: Int, into result: Int) {
    start()
    absorb(left)
    absorb(right)
    finish(into: result)
  }

  /// T: any number of nodes.
  mutating func hash(_ nodes: Range<Int>, into result: Int) {
    start()
    for node in nodes { absorb(node) }
    finish(into: result)
  }

  /// Steps of a chain of WOTS+: node `chain + first` is its value there, those up to `chain + last` are written.
  mutating func chain(_ chain: Int, from first: Int, to last: Int) {
    let values = unsafe memory + nodes(chain)
    unsafe coffer_keccak_chain(values, memory + head * lanes, words, first, last, lanes)
  }

  private mutating func start() {
    let headWords = words + Self.addressWords
    unsafe memory.update(from: memory + head * lanes, count: headWords * lanes)
    unsafe (memory + headWords * lanes).update(repeating: 0, count: (Self.stateWords - headWords) * lanes)
    filled = headWords
  }

  private mutating func absorb(_ node: Int) {
    let source = unsafe memory + nodes(node)
    for word in 0..<words {
      let target = unsafe memory + filled * lanes
      for lane in 0..<lanes { unsafe target[lane] ^= source[word * lanes + lane] }
      filled += 1
      if filled == Self.rateWords {
        unsafe coffer_keccak_permute(memory, lanes)
        filled = 0
      }
    }
  }

  private mutating func finish(into node: Int) {
    for lane in 0..<lanes {
      unsafe memory[filled * lanes + lane] ^= SHAKE256.firstPadding
      unsafe memory[(Self.rateWords - 1) * lanes + lane] ^= SHAKE256.lastPadding
    }
    unsafe coffer_keccak_permute(memory, lanes)
    unsafe (memory + nodes(node)).update(from: memory, count: words * lanes)
  }

  // MARK: Nodes

  /// Copies a node in all lanes.
  mutating func copy(_ source: Int, to target: Int) {
    unsafe (memory + nodes(target)).update(from: memory + nodes(source), count: words * lanes)
  }

  /// Copies a node from one lane to another.
  mutating func copy(_ source: Int, lane: Int, to target: Int, lane targetLane: Int) {
    for word in 0..<words {
      unsafe memory[nodes(target) + word * lanes + targetLane] =
        memory[nodes(source) + word * lanes + lane]
    }
  }

  /// Sets a node in a lane.
  mutating func set(_ node: Int, lane: Int, to bytes: RawSpan) {
    write(bytes, at: Self.stateWords + words + Self.addressWords + node * words, lane: lane)
  }

  /// A node that is not secret.
  func bytes(of node: Int, lane: Int) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(8 * words)
    for word in 0..<words {
      let value = unsafe memory[nodes(node) + word * lanes + lane]
      for shift in 0..<8 { bytes.append(UInt8(truncatingIfNeeded: value >> (8 * shift))) }
    }
    return bytes
  }

  /// Writes nodes that follow one another to the octets from `offset` on.
  func write(_ nodes: Range<Int>, lane: Int, to bytes: inout MutableRawSpan, at offset: Int) {
    let source = unsafe memory + self.nodes(nodes.lowerBound) + lane
    let count = words * nodes.count
    precondition(offset >= 0 && offset + 8 * count <= bytes.byteCount, "room for the nodes")
    unsafe bytes.withUnsafeMutableBytes { bytes in
      for word in 0..<count {
        unsafe bytes.storeBytes(of: source[word * lanes], toByteOffset: offset + 8 * word, as: UInt64.self)
      }
    }
  }

  private mutating func write(_ bytes: RawSpan, at word: Int, lane: Int) {
    precondition(bytes.byteCount == 8 * words, "a node has n octets")
    for index in 0..<words {
      let value = unsafe bytes.unsafeLoadUnaligned(fromByteOffset: 8 * index, as: UInt64.self)
      unsafe memory[(word + index) * lanes + lane] = value
    }
  }

  private var head: Int { Self.stateWords }

  private func nodes(_ node: Int) -> Int {
    (Self.stateWords + words + Self.addressWords + node * words) * lanes
  }

  private static let stateWords = 25
  private static let addressWords = 4
  /// 136 octets.
  private static let rateWords = 17
}
