// SPDX-License-Identifier: Apache-2.0

import Captures
import CofferKit
import CrashDisk
import Foundation
import Keychains
import Primitives
import Secrets
import Vaults

extension CofferOperation {
  /// Every operation on a whole coffer.
  static var all: [CofferOperation] { slots + [settings] + captures }

  private static var slots: [CofferOperation] {
    [
      CofferOperation(
        "passphrase change", deed: { try $0.changePassphrase(to: passphrase(secrets[1]), kdf: kdf) },
        change: { $0.opening = [secrets[1]] }),
      CofferOperation(
        "slot add", deed: { _ = try $0.addSlot(passphrase(secrets[1]), kdf: kdf) },
        change: {
          $0.opening = Set(secrets)
          $0.slotCount += 1
        }),
      CofferOperation(
        "security key slot", deed: { try addKey(to: $0) },
        change: {
          $0.opening = [secrets[0], keyLabel]
          $0.slotCount += 1
        }),
      CofferOperation(
        "slot remove", preparation: { _ = try $0.addSlot(passphrase(secrets[1]), kdf: kdf) },
        deed: { coffer in
          let last = try coffer.slots().last { $0.kind == .passphrase }
          guard let last else { throw CrashFinding.lost("the slot to remove") }
          try coffer.removeSlot(last.id)
        },
        change: {
          $0.opening = [secrets[0]]
          $0.slotCount -= 1
        }),
    ]
  }

  private static var settings: CofferOperation {
    CofferOperation(
      "settings write", deed: { try $0.noteRecoveryDrill() },
      change: { $0.drill = VaultClock.still.now() })
  }

  private static var captures: [CofferOperation] {
    [
      CofferOperation(
        "capture add", preparation: { try add(1, to: $0) }, recovery: sweep, deed: { try add(2, to: $0) },
        change: { $0.captures.insert(hashes(2)) }),
      CofferOperation(
        "capture set", preparation: { try add(1, to: $0) }, recovery: sweep,
        deed: { coffer in
          for capture in try coffer.captures.list() {
            _ = try coffer.captureAccess.changeLabel(of: capture.id) { $0.title = "meter" }
          }
        },
        change: { $0.captures = [hashes(1) + ["meter"]] }),
      CofferOperation(
        "capture remove",
        preparation: {
          try add(1, to: $0)
          try add(2, to: $0)
        },
        recovery: sweep,
        deed: { coffer in
          let second = try coffer.captures.list().first { capture in
            try coffer.captures.info(capture.id).parts.contains { hashes(2).contains($0.sha256) }
          }
          guard let second else { throw CrashFinding.lost("the capture to remove") }
          try coffer.captures.remove(second.id)
        },
        change: { $0.captures.remove(hashes(2)) }),
    ]
  }

  /// What the next writer does first; nothing may lie about afterwards.
  private static func sweep(_ coffer: Coffer) throws {
    _ = try coffer.captures.retryFailedUploads()
    let findings = try coffer.captures.examine(isDeep: false)
    guard findings.strayBlobCount == 0 else {
      throw CrashFinding.mixed("\(findings.strayBlobCount) blobs belong to nothing")
    }
  }

  /// Photo and depth are large enough for files of their own.
  private static let partByteCounts = [66_000, 66_500]

  private static func parts(_ number: Int) -> [[UInt8]] {
    partByteCounts.map { [UInt8](repeating: UInt8(number), count: $0) }
  }

  private static func hashes(_ number: Int) -> [String] {
    parts(number).map { Hexadecimal.text(SHA256.hash($0.span.bytes)) }.sorted()
  }

  static func add(_ number: Int, to coffer: Coffer) throws {
    let sources = parts(number).map { PartSource(SecretBytes(copying: $0.span.bytes)) }
    _ = try coffer.captures.add(
      NewCapture(photo: sources[0], depth: sources[1]), signer: coffer.captureAccess.signer())
  }
}
