// SPDX-License-Identifier: Apache-2.0

/// Where bytes go, one after the other.
public protocol ByteSink: AnyObject {
  /// Takes all of `bytes`, which are the caller's again afterwards.
  func write(_ bytes: RawSpan) throws(OpenPGPError)
}

extension ByteSink {
  /// Takes the bytes of an array.
  public func write(_ bytes: [UInt8]) throws(OpenPGPError) { try write(unsafe bytes.span.bytes) }
}
