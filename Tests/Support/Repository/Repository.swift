// SPDX-License-Identifier: Apache-2.0
//
// Where the package is, for tests that read its pages, samples and scripts.

public import Foundation

/// The folder of the package that the tests were built from.
public enum Repository {
  /// The folder that holds Package.swift.
  public static let root: URL = {
    var folder = URL(filePath: #filePath).resolvingSymlinksInPath().deletingLastPathComponent()
    while !FileManager.default.fileExists(atPath: folder.appending(path: "Package.swift").path) {
      precondition(folder.path != "/", "the tests were built from no package")
      folder.deleteLastPathComponent()
    }
    return folder
  }()
}
