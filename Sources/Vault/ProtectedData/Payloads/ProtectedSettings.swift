// SPDX-License-Identifier: Apache-2.0
//
// The settings that cannot be read or changed while locked (PD-12). Schema 1 lacks the last field; only
// ``upgrading(_:)`` reads it.

/// The domain of settings.
public struct ProtectedSettings: ProtectedPayload {
  /// ``ProtectedDomain/protectedSettings``.
  public static let domain = ProtectedDomain.protectedSettings
  /// Schema 2.
  public static let schemaVersion: UInt16 = 2
  static let upgradedSchemaVersion: UInt16 = 1

  /// An hour, the longest grace period.
  public static let gracePeriodLimitSeconds: UInt32 = 3600

  /// Whether the user is warned about copying to the clipboard.
  public var clipboardNotice: Bool
  /// How long after an authentication no other one is needed; 0 to authenticate each time.
  public var gracePeriodSeconds: UInt32
  /// Whether the user has been through the introduction.
  public var onboardingCompleted: Bool
  /// The colours that the user chose.
  public var colourTheme: ColourTheme
  /// Whether messages are encrypted to their sender too.
  public var encryptToSelf: Bool
  /// Whether the user has been through the tutorial.
  public var tutorialCompleted: Bool

  /// The settings of a new coffer: a grace period of three minutes, colours as the system has them.
  public static let initial = ProtectedSettings(
    clipboardNotice: true, gracePeriodSeconds: 180, onboardingCompleted: false, colourTheme: .system,
    encryptToSelf: true, tutorialCompleted: false)

  /// Settings with these values. Writing them checks the rules.
  public init(
    clipboardNotice: Bool, gracePeriodSeconds: UInt32, onboardingCompleted: Bool, colourTheme: ColourTheme,
    encryptToSelf: Bool, tutorialCompleted: Bool
  ) {
    self.clipboardNotice = clipboardNotice
    self.gracePeriodSeconds = gracePeriodSeconds
    self.onboardingCompleted = onboardingCompleted
    self.colourTheme = colourTheme
    self.encryptToSelf = encryptToSelf
    self.tutorialCompleted = tutorialCompleted
  }

  // MARK: Bytes

  /// Checks every field of schema 2.
  public static func check(_ bytes: RawSpan) throws(MalformedPayload) { _ = try ProtectedSettings(bytes) }

  /// Reads schema 2.
  public init(_ bytes: RawSpan) throws(MalformedPayload) { try self.init(bytes, hasTutorial: true) }

  /// Reads the first schema, and takes the tutorial as not completed.
  static func upgrading(_ bytes: RawSpan) throws(MalformedPayload) -> ProtectedSettings {
    try ProtectedSettings(bytes, hasTutorial: false)
  }

  private init(_ bytes: RawSpan, hasTutorial: Bool) throws(MalformedPayload) {
    var cursor = PayloadCursor()
    clipboardNotice = try cursor.flag(bytes)
    gracePeriodSeconds = try cursor.uint32(bytes)
    onboardingCompleted = try cursor.flag(bytes)
    colourTheme = try cursor.one(bytes)
    encryptToSelf = try cursor.flag(bytes)
    tutorialCompleted = hasTutorial ? try cursor.flag(bytes) : false
    try cursor.finish(bytes)
    guard gracePeriodSeconds <= Self.gracePeriodLimitSeconds else { throw MalformedPayload() }
  }

  /// Writes schema 2.
  public func write(to writer: inout PayloadWriter) {
    writer.append(clipboardNotice)
    writer.append(bigEndian: gracePeriodSeconds)
    writer.append(onboardingCompleted)
    writer.append(colourTheme.rawValue)
    writer.append(encryptToSelf)
    writer.append(tutorialCompleted)
  }
}

/// The colours that the user chose. The numbers are stored.
public enum ColourTheme: UInt8, Sendable, CaseIterable {
  /// As the system has them.
  case system = 1
  /// Dark text on a light ground.
  case light = 2
  /// Light text on a dark ground.
  case dark = 3
}
