// SPDX-License-Identifier: Apache-2.0
//
// What shows that the search finds: leaks that are made on purpose, one in each form and place, and keys
// that are in use while the search runs.

import CofferKit
import Foundation
import Keychains
import Primitives
import Secrets

extension Operation {
  static let controls = [
    control("deliberate-leak") { try $0.leak() },
    control("keys-in-use") { workspace in
      let passphrase = try workspace.passphrase()
      try workspace.makeCoffer(passphrase)
      let coffer = try workspace.open(passphrase)
      try coffer.vault.checkRows()
      return KeysInUse(coffer: coffer, keys: workspace.bytes("secret of a program", count: 32))
    },
  ]
}

/// An open coffer, and a secret beside it.
private final class KeysInUse: Sendable {
  private let coffer: Coffer
  private let secret: SharedSecretBytes

  init(coffer: Coffer, keys: consuming SecretBytes) {
    self.coffer = coffer
    secret = SharedSecretBytes(keys)
  }
}

/// What `deliberate-leak` leaves behind in memory.
private final class Leak: Sendable {
  private let heap: [UInt8]
  private let texts: [String]

  init(heap: [UInt8], texts: [String]) {
    self.heap = heap
    self.texts = texts
  }
}

extension Workspace {
  /// Leaves a copy on the heap, a half of another, a copy in reverse, hexadecimal and base64 in strings, UTF-16
  /// on the heap, a copy in an abandoned stack frame, and base64 in a file: each of a secret of its own.
  @inline(never)
  fileprivate func leak() throws -> any Sendable {
    func copy(_ name: StaticString) -> [UInt8] {
      bytes(name, count: 32).withBytes { [UInt8](copying: $0) }
    }
    var heap = copy("on the heap")
    heap += copy("first half").prefix(16)
    heap += [0]
    heap += copy("second half").suffix(16)
    heap += copy("in reverse").reversed()
    for byte in text("as UTF-16", byteCount: 24).withBytes({ [UInt8](copying: $0) }) { heap += [byte, 0] }
    let texts = [
      Hexadecimal.text(copy("in hexadecimal")),
      Hexadecimal.text(copy("in upper case")).uppercased(),
      Data(copy("in base64")).base64EncodedString(),
      // At another place within the groups of three.
      Data([7] + copy("in base64, shifted")).base64EncodedString(),
    ]
    try Data(Data(copy("in a file")).base64EncodedString().utf8)
      .write(to: URL(filePath: searched + "/leaked"))
    abandon()
    return Leak(heap: heap, texts: texts)
  }

  /// The frame is large, so that what is called later does not reach down to the copy.
  @inline(never)
  private func abandon() {
    let secret = bytes("on the stack", count: 32)
    var frame = InlineArray<65_536, UInt8>(repeating: 0)
    for offset in 0..<secret.count {
      frame[offset] = secret.withBytes { $0.unsafeLoad(fromUncheckedByteOffset: offset, as: UInt8.self) }
    }
    withExtendedLifetime(frame) {}
  }
}
