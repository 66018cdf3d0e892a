// SPDX-License-Identifier: Apache-2.0
//
// The permutation against libcrypto's SHAKE256, octet by octet and in lanes.

import CKeccak
import COpenSSL
import Primitives
import Secrets
import Testing

@testable import PostQuantum

@Suite("Keccak")
struct KeccakTests {
  /// The numbers of lanes that this processor has instructions for.
  static let lanes = [1, 4, 8].filter { $0 <= KeccakLanes.best }

  private static func libcrypto(_ message: [UInt8], count: Int) -> [UInt8] {
    var output = [UInt8](repeating: 0, count: count)
    let context = EVP_MD_CTX_new()
    defer { EVP_MD_CTX_free(context) }
    #expect(
      EVP_DigestInit_ex(context, EVP_shake256(), nil) == 1
        && EVP_DigestUpdate(context, message, message.count) == 1
        && EVP_DigestFinalXOF(context, &output, count) == 1)
    return output
  }

  @Test("SHAKE256 is libcrypto's, for every length around the ends of blocks")
  func octets() {
    for count in Array(0...17) + Array(127...145) + Array(268...280) + [1000, 8191] {
      let message = SystemRandom.publicBytes(count: count)
      var hash = SHAKE256()
      hash.update(Array(message.prefix(count / 3)))
      hash.update(Array(message.dropFirst(count / 3)))
      #expect(hash.finish(136) == Self.libcrypto(message, count: 136), "\(count) octets")
    }
  }

  @Test("Hashes of nodes are SHAKE256 of PK.seed, ADRS and the nodes", arguments: lanes, [16, 32])
  func nodes(_ lanes: Int, _ byteCount: Int) {
    let seed = SystemRandom.publicBytes(count: byteCount)
    let values = (0..<lanes).map { _ in (0..<20).map { _ in SystemRandom.publicBytes(count: byteCount) } }
    func address(_ lane: Int) -> HashAddress {
      HashAddress(
        layer: 5, tree: 0x0123_4567_89AB_CDEF, kind: .forsSecret, keyPair: 0x0102_0304 + UInt32(lane),
        chain: 0x1112_1314, index: 0x2122_2324 + UInt32(lane))
    }
    #expect(
      address(0).octets == [
        0, 0, 0, 5, 0, 0, 0, 0, 0x01, 0x23, 0x45, 0x67, 0x89, 0xAB, 0xCD, 0xEF, 0, 0, 0, 6, 1, 2, 3, 4,
        0x11, 0x12, 0x13, 0x14, 0x21, 0x22, 0x23, 0x24,
      ])
    KeccakLanes.with(lanes: lanes, nodeByteCount: byteCount, nodeCount: 24) { hashes in
      var hashes = hashes
      hashes.setPublicSeed(seed.span.bytes)
      for lane in 0..<lanes {
        hashes.setAddress(address(lane), lane: lane)
        for (node, value) in values[lane].enumerated() { hashes.set(node, lane: lane, to: value.span.bytes) }
      }
      hashes.hash(3, into: 20)
      hashes.hash(4, 2, into: 21)
      hashes.hash(0..<20, into: 22)
      for lane in 0..<lanes {
        let head = seed + address(lane).octets
        let own = values[lane]
        for (node, message) in [(20, own[3]), (21, own[4] + own[2]), (22, Array(own.joined()))] {
          #expect(
            hashes.bytes(of: node, lane: lane) == Self.libcrypto(head + message, count: byteCount),
            "node \(node), lane \(lane)")
        }
      }
    }
  }

  @Test("A chain is one hash after another, with the step in the address", arguments: lanes, [16, 32])
  func chains(_ lanes: Int, _ byteCount: Int) {
    let seed = SystemRandom.publicBytes(count: byteCount)
    let starts = (0..<lanes).map { _ in SystemRandom.publicBytes(count: byteCount) }
    KeccakLanes.with(lanes: lanes, nodeByteCount: byteCount, nodeCount: 16) { hashes in
      var hashes = hashes
      hashes.setPublicSeed(seed.span.bytes)
      for lane in 0..<lanes {
        hashes.setAddress(
          HashAddress(layer: 1, tree: 2, kind: .chain, keyPair: 3, chain: UInt32(lane)), lane: lane)
        let start = starts[lane]
        hashes.set(4, lane: lane, to: start.span.bytes)
      }
      hashes.chain(0, from: 4, to: 15)
      for lane in 0..<lanes {
        var value = starts[lane]
        for step in 4..<15 {
          let address = HashAddress(
            layer: 1, tree: 2, kind: .chain, keyPair: 3, chain: UInt32(lane), index: UInt32(step))
          value = Self.libcrypto(seed + address.octets + value, count: byteCount)
          #expect(hashes.bytes(of: step + 1, lane: lane) == value, "step \(step), lane \(lane)")
        }
        #expect(hashes.bytes(of: 3, lane: lane) == [UInt8](repeating: 0, count: byteCount))
      }
    }
  }
}
