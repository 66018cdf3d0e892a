// SPDX-License-Identifier: Apache-2.0

extension ByteSource {
  /// Hands all that is left to `body`, piece by piece.
  func forEach(_ body: (RawSpan) -> Void) throws(OpenPGPError) {
    while true {
      let count = try withNext { (next) throws(OpenPGPError) -> Int in
        if next.byteCount > 0 { body(next) }
        return next.byteCount
      }
      if count == 0 { return }
      consume(count)
    }
  }
}
