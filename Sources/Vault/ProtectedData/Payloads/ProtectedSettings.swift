// SPDX-License-Identifier: Apache-2.0
//
// The settings that cannot be read or changed while locked (PD-12). Each has a reader and is changed by
// `coffer settings`. Schema 1 had others; only ``upgrading(_:)`` reads it.

/// The domain of settings.
public struct ProtectedSettings: ProtectedPayload {
  /// ``ProtectedDomain/protectedSettings``.
  public static let domain = ProtectedDomain.protectedSettings
  /// Schema 2.
  public static let schemaVersion: UInt16 = 2
  static let upgradedSchemaVersion: UInt16 = 1

  /// An hour, the longest grace period.
  public static let gracePeriodLimitSeconds: UInt32 = 3600

  /// How long after an authentication no other one is needed; 0 to authenticate each time.
  public var gracePeriodSeconds: UInt32
  /// Whether commands say what to do next, as a new user wants it.
  public var showsNextSteps: Bool
  /// The colours that the user chose.
  public var colourTheme: ColourTheme
  /// Whether messages are encrypted to their sender too.
  public var encryptToSelf: Bool

  /// The settings of a new coffer: a grace period of three minutes, next steps, the terminal's colours.
  public static let initial = ProtectedSettings(
    gracePeriodSeconds: 180, showsNextSteps: true, colourTheme: .system, encryptToSelf: true)

  /// Settings with these values. Writing them checks the rules.
  public init(gracePeriodSeconds: UInt32, showsNextSteps: Bool, colourTheme: ColourTheme, encryptToSelf: Bool)
  {
    self.gracePeriodSeconds = gracePeriodSeconds
    self.showsNextSteps = showsNextSteps
    self.colourTheme = colourTheme
    self.encryptToSelf = encryptToSelf
  }

  // MARK: Bytes

  /// Checks every field of schema 2.
  public static func check(_ bytes: RawSpan) throws(MalformedPayload) { _ = try ProtectedSettings(bytes) }

  /// Reads schema 2.
  public init(_ bytes: RawSpan) throws(MalformedPayload) {
    var cursor = PayloadCursor()
    gracePeriodSeconds = try cursor.uint32(bytes)
    showsNextSteps = try cursor.flag(bytes)
    colourTheme = try cursor.one(bytes)
    encryptToSelf = try cursor.flag(bytes)
    try cursor.finish(bytes)
    guard gracePeriodSeconds <= Self.gracePeriodLimitSeconds else { throw MalformedPayload() }
  }

  /// Reads the first schema. Its notice about the clipboard is dropped, and next steps end where the introduction was
  /// completed.
  static func upgrading(_ bytes: RawSpan) throws(MalformedPayload) -> ProtectedSettings {
    var cursor = PayloadCursor()
    _ = try cursor.flag(bytes)
    let gracePeriodSeconds = try cursor.uint32(bytes)
    let isIntroduced = try cursor.flag(bytes)
    let colourTheme: ColourTheme = try cursor.one(bytes)
    let encryptToSelf = try cursor.flag(bytes)
    try cursor.finish(bytes)
    guard gracePeriodSeconds <= gracePeriodLimitSeconds, colourTheme != .plain else {
      throw MalformedPayload()
    }
    return ProtectedSettings(
      gracePeriodSeconds: gracePeriodSeconds, showsNextSteps: !isIntroduced, colourTheme: colourTheme,
      encryptToSelf: encryptToSelf)
  }

  /// Writes schema 2.
  public func write(to writer: inout PayloadWriter) {
    writer.append(bigEndian: gracePeriodSeconds)
    writer.append(showsNextSteps)
    writer.append(colourTheme.rawValue)
    writer.append(encryptToSelf)
  }
}

/// The colours that the user chose. The numbers are stored.
public enum ColourTheme: UInt8, Sendable, CaseIterable {
  /// The terminal's own colours.
  case system = 1
  /// Colours that can be read on a light ground.
  case light = 2
  /// Colours that can be read on a dark ground.
  case dark = 3
  /// No colours.
  case plain = 4
}
