// SPDX-License-Identifier: Apache-2.0
//
// The rules for PINs. The chip counts wrong tries, so a PIN may be short, but not one of the first that
// anybody would try.

internal import Secrets

/// The rules for PINs of a chip.
public enum PINPolicy {
  /// Six digits give a million PINs, against the few tries that a chip allows.
  public static let shortest = 6
  /// A longer one should be a passphrase.
  public static let longest = 64

  /// Why a PIN is refused.
  @nonexhaustive
  public enum Problem: Error, Equatable, Sendable {
    /// Fewer bytes than ``shortest``, or more than ``longest``.
    case tooShort, tooLong
    /// One character repeated, or a run up or down: "111111", "123456".
    case pattern
  }

  /// The rule that a typed PIN violates; nil when it is accepted. The rules are about bytes, not characters.
  public static func problem(with pin: RawSpan) -> Problem? {
    guard pin.byteCount >= shortest else { return .tooShort }
    guard pin.byteCount <= longest else { return .tooLong }
    for step in -1...1 where isRun(pin, step: step) { return .pattern }
    return nil
  }

  /// Whether every byte is the one before it and `step` more.
  private static func isRun(_ pin: RawSpan, step: Int) -> Bool {
    (1..<pin.byteCount).allSatisfy { place in
      unsafe Int(pin.unsafeLoad(fromByteOffset: place, as: UInt8.self))
        == Int(pin.unsafeLoad(fromByteOffset: place - 1, as: UInt8.self)) + step
    }
  }
}

extension PINPolicy.Problem: CustomStringConvertible {
  /// The rule that the PIN breaks, for users; never the PIN.
  public var description: String {
    switch self {
    case .tooShort: "a PIN has at least \(PINPolicy.shortest) characters"
    case .tooLong: "a PIN has at most \(PINPolicy.longest) characters"
    case .pattern: "too easy to guess: 111111, 123456 and the like are tried first"
    }
  }
}
