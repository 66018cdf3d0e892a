// SPDX-License-Identifier: Apache-2.0
//
// A limit of speed as you type it.

internal import ArgumentParser

/// Bytes a second: `800`, `500k`, `2M`, `1G`, in decimal units.
struct Speed: ExpressibleByArgument {
  let bytesPerSecond: UInt64

  init?(argument: String) {
    let units: [Character: UInt64] = ["k": 1_000, "M": 1_000_000, "G": 1_000_000_000]
    let unit = argument.last.flatMap { units[$0] }
    let digits = unit == nil ? argument[...] : argument.dropLast()
    guard digits.allSatisfy({ $0.isASCII && $0.isNumber }), let number = UInt64(digits), number > 0 else {
      return nil
    }
    let (speed, isTooHigh) = number.multipliedReportingOverflow(by: unit ?? 1)
    guard !isTooHigh else { return nil }
    bytesPerSecond = speed
  }
}
