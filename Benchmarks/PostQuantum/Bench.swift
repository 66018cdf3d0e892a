// SPDX-License-Identifier: Apache-2.0
//
// What ML-KEM, ML-DSA and SLH-DSA cost. They are not public, so this command belongs to Coffer's own package and not
// to the one in Benchmarks/. Debian's OpenSSL 3.0 has none of them; the peer for the first two is the OpenSSL in
// PyPI's `cryptography`, called from Python.
//
// Figures are processor time, which other work on the machine changes least; those for two threads are of the clock.
//
//   scripts/bench post-quantum

import Foundation
import Primitives
import Secrets

@testable import PostQuantum

@main
struct Bench {
  private static let message = [UInt8](repeating: 7, count: 64)
  private static let long = Duration.milliseconds(400)

  static func main() throws {
    try SecretMemory.prepare()
    var table = Table()
    try keyEncapsulation(&table)
    try signatures(&table)
    try hashSignatures(&table)
    table.write()
    print("lanes: \(KeccakLanes.best)")
  }

  /// ML-KEM: our figures for decapsulation begin with the seed, as every use of a key does.
  private static func keyEncapsulation(_ table: inout Table) throws {
    for (kem, name) in [(MLKEM.mlkem768, "ML-KEM-768"), (.mlkem1024, "ML-KEM-1024")] {
      let seed = SystemRandom.publicBytes(count: MLKEM.seedByteCount)
      let publicKey = kem.publicKey(seed: seed.span.bytes)
      guard let (ciphertext, _) = kem.encapsulate(to: publicKey) else { return }
      let isFirst = kem == .mlkem768
      try compare(&table, "\(name) public key from seed", peer: "\(name) key") {
        Harness.keep(kem.publicKey(seed: seed.span.bytes))
      }
      try compare(
        &table, "\(name) encapsulate", peer: "\(name) encapsulate", target: isFirst ? .below(60e-6) : .none
      ) {
        Harness.keep(kem.encapsulate(to: publicKey))
      }
      try compare(
        &table, "\(name) decapsulate from seed", peer: "\(name) decapsulate",
        target: isFirst ? .below(80e-6) : .none
      ) {
        Harness.keep(kem.decapsulate(ciphertext, seed: seed.span.bytes))
      }
    }
  }

  private static func signatures(_ table: inout Table) throws {
    for (scheme, name) in [(MLDSA.mldsa65, "ML-DSA-65"), (.mldsa87, "ML-DSA-87")] {
      let seed = SystemRandom.publicBytes(count: MLDSA.seedByteCount)
      let publicKey = scheme.publicKey(seed: seed.span.bytes)
      let signature = scheme.sign(message, seed: seed.span.bytes)
      try compare(&table, "\(name) public key from seed", peer: "\(name) key") {
        Harness.keep(scheme.publicKey(seed: seed.span.bytes))
      }
      try compare(&table, "\(name) sign from seed", peer: "\(name) sign") {
        Harness.keep(scheme.sign(message, seed: seed.span.bytes))
      }
      try compare(
        &table, "\(name) verify", peer: "\(name) verify", target: scheme == .mldsa65 ? .below(200e-6) : .none
      ) {
        Harness.keep(scheme.isValid(signature, of: message, publicKey: publicKey))
      }
    }
  }

  private static func hashSignatures(_ table: inout Table) throws {
    for (scheme, name) in [
      (SLHDSA.shake128s, "SLH-DSA-SHAKE-128s"), (.shake128f, "SLH-DSA-SHAKE-128f"),
      (.shake256s, "SLH-DSA-SHAKE-256s"),
    ] {
      let (publicKey, secretKey) = scheme.generate()
      let signature = secretKey.withBytes { scheme.sign(message, secretKey: $0) }
      let random = SystemRandom.publicBytes(count: scheme.n)
      for lanes in [1, 4, 8] where lanes <= KeccakLanes.best {
        let kind = "\(name), \(lanes) \(lanes == 1 ? "lane" : "lanes")"
        let limits: (sign: Target, twice: Target) =
          switch (scheme, lanes) {
          case (.shake128s, 4): (.below(0.250), .below(0.150))
          case (.shake128s, 8): (.below(0.110), .below(0.066))
          case (.shake128f, 4): (.below(0.015), .below(0.009))
          case (.shake128f, 8): (.below(0.006), .below(0.0036))
          default: (.none, .none)
          }
        try compare(&table, "\(kind): key") {
          secretKey.withBytes { Harness.keep(scheme.computedRoot(secretKey: $0, lanes: lanes)) }
        }
        for (threads, target) in [(1, limits.sign), (2, limits.twice)] {
          let name = "\(kind): sign, \(threads) \(threads == 1 ? "thread" : "threads")"
          try compare(&table, name, target: target, onTheWall: threads == 2) {
            secretKey.withBytes {
              Harness.keep(
                scheme.sign(
                  [[0, 0], message], secretKey: $0, random: random, lanes: lanes, threads: threads))
            }
          }
        }
        try compare(&table, "\(kind): verify", target: lanes == 1 ? .none : .below(0.001)) {
          Harness.keep(scheme.isValid(signature, of: [[0, 0], message], publicKey: publicKey, lanes: lanes))
        }
      }
    }
  }

  /// Does `body` for about `duration` and gives the mean processor time of one operation. The first is not counted.
  private static func processorTime(for duration: Duration, _ body: () throws -> Void) rethrows -> Double {
    func now() -> Double {
      var time = timespec()
      clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
      return Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
    }
    try body()
    let start = now()
    var count = 0
    while now() - start < duration / .seconds(1) {
      for _ in 0..<(count < 10 ? 1 : 10) {
        try body()
        count += 1
      }
    }
    return (now() - start) / Double(count)
  }

  private static func compare(
    _ table: inout Table, _ what: String, peer: String? = nil, target: Target = .none,
    onTheWall: Bool = false,
    _ body: () throws -> Void
  ) throws {
    let peers = Cryptography.isInstalled ? peer : nil
    let result = try Harness.compare(
      ours: { onTheWall ? try Harness.round(for: long, body) : try processorTime(for: long, body) },
      peers: peers.map { operation in
        [Peer(name: Cryptography.name) { try Cryptography.round(operation, for: 0.4) }]
      } ?? [])
    table.add(what, result.ours, peers: result.peers, target: target)
  }
}
