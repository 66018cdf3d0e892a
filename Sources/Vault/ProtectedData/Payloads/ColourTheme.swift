// SPDX-License-Identifier: Apache-2.0

/// The colours that the user chose. The numbers are stored.
public enum ColourTheme: UInt8, Sendable, CaseIterable {
  case system = 1
  case light = 2
  case dark = 3
}
