// SPDX-License-Identifier: Apache-2.0

/// A colour in sRGB, eight bits a channel.
public struct RGB8: Equatable, Sendable {
  public var red: UInt8
  public var green: UInt8
  public var blue: UInt8

  public init(_ red: UInt8, _ green: UInt8, _ blue: UInt8) {
    self.red = red
    self.green = green
    self.blue = blue
  }
}
