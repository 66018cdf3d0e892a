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

  /// The same once more, as it is now.
  public func copy() throws -> TemporaryHome {
    let copy = try TemporaryHome()
    try FileManager.default.copyItem(atPath: path, toPath: copy.path)
    return copy
  }

  deinit { try? FileManager.default.removeItem(at: folder) }
}
