// SPDX-License-Identifier: Apache-2.0

/// One call that changed the disk; names are below the folder that is watched.
public enum DiskCall: Sendable {
  /// An empty file got a name. Files are told apart by their inodes, as long as they are there or open.
  case create(file: UInt, name: String)
  case resize(file: UInt, byteCount: Int)
  case write(file: UInt, offset: Int, bytes: [UInt8])
  /// The contents of a file were synchronised; its name was not.
  case synchronise(file: UInt)
  /// The names in a folder were synchronised.
  case synchroniseFolder(String)
  case remove(String)
  /// In place of what has the other name.
  case rename(String, to: String)
  case makeFolder(String)
  case removeFolder(String)
  /// A record was added to a store of such, which is a folder named `records`.
  case addRecord(String, bytes: [UInt8])
  case removeRecord(String)
  /// All records were synchronised, added and removed.
  case synchroniseRecords

  /// What it did, in words, to a file with the name `name`.
  public func description(of name: (UInt) -> String) -> String {
    switch self {
    case .create(_, let name): "create \(name)"
    case .resize(let file, let count): "resize \(name(file)) to \(count)"
    case .write(let file, let offset, let bytes): "write \(name(file)) at \(offset), \(bytes.count) bytes"
    case .synchronise(let file): "sync \(name(file))"
    case .synchroniseFolder(let folder): "sync folder \(folder)"
    case .remove(let name): "remove \(name)"
    case .rename(let name, let other): "rename \(name) to \(other)"
    case .makeFolder(let name): "make folder \(name)"
    case .removeFolder(let name): "remove folder \(name)"
    case .addRecord(let name, let bytes): "add record \(name), \(bytes.count) bytes"
    case .removeRecord(let name): "remove record \(name)"
    case .synchroniseRecords: "sync records"
    }
  }
}
