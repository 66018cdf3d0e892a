// SPDX-License-Identifier: Apache-2.0

import Foundation

/// A folder for one test, removed with all that is in it when the value goes.
public final class TemporaryHome: Sendable {
  /// Where a coffer may be made; not there yet.
  public let path: String
  private let folder: URL

  public init() throws {
    folder = FileManager.default.temporaryDirectory.appending(path: "coffer-test-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    path = folder.appending(path: "home").path
  }

  deinit { try? FileManager.default.removeItem(at: folder) }
}
