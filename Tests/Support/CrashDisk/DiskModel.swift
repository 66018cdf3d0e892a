// SPDX-License-Identifier: Apache-2.0
//
// What is on a disk, and what of it is certain to stay there. The model is as strict as POSIX lets a file
// system be:
//
// - what is in a file is certain once the file was synchronised; its size too;
// - a name is certain once its folder was synchronised, whatever became of the file;
// - of what is not certain, any part may be there after a crash: single writes, halves of them, in any order.
//   Only the names come in the order in which they were given: file systems keep a journal of those.
//
// A folder named `records` is a store of its own beside the disk: what is added to it and removed survives each
// by itself, until all of it is synchronised at once.

import Glibc

/// A disk after some calls.
struct DiskModel {
  /// What is in a file.
  private struct Body {
    /// What is certain.
    var synchronised: [UInt8] = []
    /// What a program reads.
    var current: [UInt8] = []
    /// What leads from the one to the other.
    var pending: [(number: Int, change: Change)] = []
  }

  private enum Change {
    case resize(Int)
    case write(offset: Int, bytes: [UInt8])
  }

  /// Names, and the files they are of.
  private struct Names {
    var files: [String: Int] = [:]
    var folders: Set<String> = []
  }

  private enum NameChange {
    case create(String, file: Int)
    case remove(String)
    case rename(String, to: String)
    case makeFolder(String)
    case removeFolder(String)
  }

  private enum RecordChange {
    case add(String, bytes: [UInt8])
    case remove(String)
  }

  private var bodies: [Body] = []
  private var bodyOfInode: [UInt: Int] = [:]
  private var names = Names()
  private var synchronisedNames = Names()
  private var pendingNames: [NameChange] = []
  private var synchronisedRecords: [String: [UInt8]] = [:]
  private var pendingRecords: [(number: Int, change: RecordChange)] = []
  /// How many calls there were.
  private(set) var number = 0

  /// A disk on which everything is certain.
  ///
  /// - Parameter inodes: the inodes of the files in `image`, as they are on the real disk.
  init(_ image: DiskImage, inodes: [String: UInt]) throws {
    names.folders = image.folders
    for (name, bytes) in image.files {
      if Self.isRecord(name) {
        synchronisedRecords[name] = bytes
        continue
      }
      guard let inode = inodes[name] else { throw DiskError("\(name) is not there") }
      names.files[name] = bodies.count
      bodyOfInode[inode] = bodies.count
      bodies.append(Body(synchronised: bytes, current: bytes))
    }
    synchronisedNames = names
  }

  /// The call as it was made.
  mutating func apply(_ call: DiskCall) throws {
    number += 1
    switch call {
    case .create(let inode, let name):
      bodyOfInode[inode] = bodies.count
      rename(.create(name, file: bodies.count))
      bodies.append(Body())
    case .resize(let inode, let byteCount): try change(inode, .resize(byteCount))
    case .write(let inode, let offset, let bytes):
      try change(inode, .write(offset: offset, bytes: bytes))
    case .synchronise(let inode):
      let file = try body(inode)
      bodies[file].synchronised = bodies[file].current
      bodies[file].pending = []
    case .synchroniseFolder(let folder): synchroniseNames(in: folder)
    case .remove(let name): rename(.remove(name))
    case .rename(let name, let other): rename(.rename(name, to: other))
    case .makeFolder(let name): rename(.makeFolder(name))
    case .removeFolder(let name): rename(.removeFolder(name))
    case .addRecord(let name, let bytes): pendingRecords.append((number, .add(name, bytes: bytes)))
    case .removeRecord(let name): pendingRecords.append((number, .remove(name)))
    case .synchroniseRecords:
      synchronisedRecords = records { _ in .all }
      pendingRecords = []
    }
  }

  private func body(_ inode: UInt) throws -> Int {
    guard let file = bodyOfInode[inode] else { throw DiskError("a file was changed that nobody made") }
    return file
  }

  private mutating func change(_ inode: UInt, _ change: Change) throws {
    let file = try body(inode)
    Self.apply(change, to: &bodies[file].current)
    bodies[file].pending.append((number, change))
  }

  private static func apply(_ change: Change, to bytes: inout [UInt8]) {
    switch change {
    case .resize(let count): resize(&bytes, to: count)
    case .write(let offset, let written):
      if bytes.count < offset + written.count { resize(&bytes, to: offset + written.count) }
      bytes.withUnsafeMutableBytes { bytes in
        written.withUnsafeBytes { written in
          guard let source = written.baseAddress, let target = bytes.baseAddress else { return }
          memcpy(target + offset, source, written.count)
        }
      }
    }
  }

  private static func resize(_ bytes: inout [UInt8], to count: Int) {
    if bytes.count > count { bytes.removeLast(bytes.count - count) }
    if bytes.count < count { bytes += [UInt8](repeating: 0, count: count - bytes.count) }
  }

  // MARK: Names

  private mutating func rename(_ change: NameChange) {
    Self.apply(change, to: &names)
    pendingNames.append(change)
  }

  private static func apply(_ change: NameChange, to names: inout Names) {
    switch change {
    case .create(let name, let file): names.files[name] = file
    case .remove(let name): names.files[name] = nil
    case .rename(let name, let other):
      names.files[other] = names.files[name]
      names.files[name] = nil
    case .makeFolder(let name): names.folders.insert(name)
    case .removeFolder(let name): names.folders.remove(name)
    }
  }

  private mutating func synchroniseNames(in folder: String) {
    pendingNames.removeAll { change in
      let name =
        switch change {
        case .create(let name, _), .remove(let name), .rename(_, let name), .makeFolder(let name),
          .removeFolder(let name):
          name
        }
      guard Self.folder(of: name) == folder else { return false }
      Self.apply(change, to: &synchronisedNames)
      return true
    }
  }

  private static func folder(of name: String) -> String {
    name.lastIndex(of: "/").map { String(name[..<$0]) } ?? ""
  }

  /// A name of the file, for people.
  func name(of inode: UInt) -> String {
    let file = bodyOfInode[inode]
    return names.files.first { $0.value == file }?.key ?? "a removed file"
  }

  // MARK: After a crash

  /// How much of a change survives.
  enum Survival {
    case none, all, firstHalf, secondHalf
  }

  /// What is there when everything survived.
  var everything: DiskImage { image(names, records { _ in .all }) { $0.current } }

  /// What is there after a crash.
  ///
  /// - Parameters:
  ///   - nameCount: how many of the changes of names that are not certain survived; nil for all.
  ///   - survival: how much of the change of a file survived that was made by the call of that number.
  func image(nameCount: Int?, _ survival: (_ number: Int) -> Survival) -> DiskImage {
    var surviving = synchronisedNames
    for change in pendingNames.prefix(nameCount ?? pendingNames.count) {
      Self.apply(change, to: &surviving)
    }
    return image(surviving, records(survival)) { body in
      var bytes = body.synchronised
      for (number, change) in body.pending {
        if let part = Self.part(change, survival(number)) { Self.apply(part, to: &bytes) }
      }
      return bytes
    }
  }

  private func records(_ survival: (_ number: Int) -> Survival) -> [String: [UInt8]] {
    var records = synchronisedRecords
    for (number, change) in pendingRecords {
      switch (change, survival(number)) {
      case (_, .none): break
      case (.add(let name, let bytes), .all): records[name] = bytes
      case (.add(let name, let bytes), _): records[name] = Array(bytes.prefix(bytes.count / 2))
      case (.remove(let name), _): records[name] = nil
      }
    }
    return records
  }

  private static func isRecord(_ name: String) -> Bool { name.contains("/records/") }

  var pendingNameCount: Int { pendingNames.count }

  private static func part(_ change: Change, _ survival: Survival) -> Change? {
    switch (change, survival) {
    case (_, .none): return nil
    case (_, .all): return change
    case (.resize, _): return change
    case (.write(let offset, let bytes), .firstHalf):
      return .write(offset: offset, bytes: Array(bytes.prefix(middle(bytes.count))))
    case (.write(let offset, let bytes), .secondHalf):
      let middle = middle(bytes.count)
      return .write(offset: offset + middle, bytes: Array(bytes.dropFirst(middle)))
    }
  }

  /// Half, and of more than a sector a number of whole ones: a disk writes a sector or does not.
  private static func middle(_ count: Int) -> Int {
    count > sectorByteCount
      ? (count / 2 + sectorByteCount - 1) / sectorByteCount * sectorByteCount : count / 2
  }

  private static let sectorByteCount = 512

  private func image(
    _ names: Names, _ records: [String: [UInt8]], _ contents: (Body) -> [UInt8]
  ) -> DiskImage {
    var image = DiskImage()
    image.files = records
    image.folders = names.folders.filter { Self.isReachable($0, names) }
    for (name, file) in names.files where Self.isReachable(name, names) {
      image.files[name] = contents(bodies[file])
    }
    return image
  }

  /// A name in a folder whose own name was lost is lost with it.
  private static func isReachable(_ name: String, _ names: Names) -> Bool {
    let folder = folder(of: name)
    return folder.isEmpty || (names.folders.contains(folder) && isReachable(folder, names))
  }
}
