// SPDX-License-Identifier: Apache-2.0

/// Where bytes go, one after the other.
public protocol ByteSink: AnyObject {
  /// Takes all of `bytes`, which are the caller's again afterwards.
  func write(_ bytes: RawSpan) throws(OpenPGPError)
}

extension ByteSink {
  /// Takes the bytes of an array.
  public func write(_ bytes: [UInt8]) throws(OpenPGPError) { try write(unsafe bytes.span.bytes) }

  /// Takes all that `source` gives.
  func write(allOf source: any ByteSource) throws(OpenPGPError) {
    while true {
      let count = try source.withNext { (next) throws(OpenPGPError) in
        if !next.isEmpty { try write(next) }
        return next.byteCount
      }
      if count == 0 { return }
      source.consume(count)
    }
  }
}
