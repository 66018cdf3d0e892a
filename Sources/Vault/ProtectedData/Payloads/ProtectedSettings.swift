// SPDX-License-Identifier: Apache-2.0
//
// The settings that cannot be read or changed while locked (PD-12). Each has a reader and is changed by
// `coffer settings`, except for the tutorial's end, which `coffer tutorial` notes. Schema 1 had others, and schema 2 knew
// of no tutorial; only ``upgrading(_:from:)`` reads them.

/// The domain of settings.
public struct ProtectedSettings: ProtectedPayload {
  /// ``ProtectedDomain/protectedSettings``.
  public static let domain = ProtectedDomain.protectedSettings
  /// Schema 3.
  public static let schemaVersion: UInt16 = 3
  static let upgradedSchemaVersions: ClosedRange<UInt16> = 1...2

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
  /// Whether the tutorial was gone through to its end; until then it is mentioned.
  public var hasCompletedTutorial: Bool

  /// The settings of a new coffer: a grace period of three minutes, next steps, the terminal's colours.
  public static let initial = ProtectedSettings(
    gracePeriodSeconds: 180, showsNextSteps: true, colourTheme: .system, encryptToSelf: true)

  /// Settings with these values. Writing them checks the rules.
  public init(
    gracePeriodSeconds: UInt32, showsNextSteps: Bool, colourTheme: ColourTheme, encryptToSelf: Bool,
    hasCompletedTutorial: Bool = false
  ) {
    self.gracePeriodSeconds = gracePeriodSeconds
    self.showsNextSteps = showsNextSteps
    self.colourTheme = colourTheme
    self.encryptToSelf = encryptToSelf
    self.hasCompletedTutorial = hasCompletedTutorial
  }

  // MARK: Bytes

  /// Checks every field of schema 3.
  public static func check(_ bytes: RawSpan) throws(MalformedPayload) { _ = try ProtectedSettings(bytes) }

  /// Reads schema 3.
  public init(_ bytes: RawSpan) throws(MalformedPayload) { try self.init(bytes, hasTutorial: true) }

  private init(_ bytes: RawSpan, hasTutorial: Bool) throws(MalformedPayload) {
    var cursor = PayloadCursor()
    gracePeriodSeconds = try cursor.uint32(bytes)
    showsNextSteps = try cursor.flag(bytes)
    colourTheme = try cursor.one(bytes)
    encryptToSelf = try cursor.flag(bytes)
    hasCompletedTutorial = hasTutorial ? try cursor.flag(bytes) : false
    try cursor.finish(bytes)
    guard gracePeriodSeconds <= Self.gracePeriodLimitSeconds else { throw MalformedPayload() }
  }

  /// Reads an older schema. Of the first, the notice about the clipboard is dropped, and next steps end where the
  /// introduction was completed.
  static func upgrading(
    _ bytes: RawSpan, from schema: UInt16
  ) throws(MalformedPayload) -> ProtectedSettings {
    if schema == 2 { return try ProtectedSettings(bytes, hasTutorial: false) }
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

  /// Writes schema 3.
  public func write(to writer: inout PayloadWriter) {
    writer.append(bigEndian: gracePeriodSeconds)
    writer.append(showsNextSteps)
    writer.append(colourTheme.rawValue)
    writer.append(encryptToSelf)
    writer.append(hasCompletedTutorial)
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
