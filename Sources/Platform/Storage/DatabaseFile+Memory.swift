// SPDX-License-Identifier: Apache-2.0
//
// A coffer file in memory: the same schema and the same transactions, and no name on any disk.

internal import GRDB

extension DatabaseFile {
  /// Makes a coffer file in memory, and lets `populate` fill it. It ends with its last reference.
  /// - Throws: what `populate` throws.
  package static func createInMemory(populate: (DatabaseFile) throws -> Void) throws -> DatabaseFile {
    do {
      let file = DatabaseFile(.memory, queue: try connect(path: ":memory:"))
      try file.write { try Schema.create($0) }
      try populate(file)
      return file
    } catch let error as DatabaseError {
      throw StorageError(error)
    }
  }
}
