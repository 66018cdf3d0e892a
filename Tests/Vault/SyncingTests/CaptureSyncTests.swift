// SPDX-License-Identifier: Apache-2.0

import Captures
import CofferKit
import Foundation
import GRDBSQLite
import Histories
import Primitives
import Remotes
import Secrets
import TemporaryHomes
import Testing

@testable import Syncing

@Suite("Captures of two coffers")
struct CaptureSyncTests {
  private let folder: RemoteFolder
  private let clock = TestClock()
  private let first: SyncedCoffer
  private let second: SyncedCoffer

  init() throws {
    folder = try RemoteFolder()
    first = try SyncedCoffer(clock: clock.clock)
    second = try SyncedCoffer(clock: clock.clock)
  }

  private func link() throws {
    #expect(try first.makeAccount(at: folder.remote, folder: folder.path).outcome == .complete)
    #expect(try second.join(first, at: folder.remote).outcome == .complete)
  }

  private func settle() throws {
    for _ in 0..<2 {
      for coffer in [first, second] { #expect(try coffer.sync(at: folder.remote).outcome == .complete) }
    }
    #expect(try first.labels() == second.labels())
    #expect(try first.coffer.captures.list().map(\.id) == second.coffer.captures.list().map(\.id))
    #expect(try first.coffer.account.open().status().words == second.coffer.account.open().status().words)
  }

  @Test("Captures of one second are listed in one order on both, wherever they were taken")
  func sameOrder() throws {
    let ids = try [first, second, first].map { try $0.take(photoByteCount: 4_000) }
    try link()
    try settle()
    for coffer in [first, second] { #expect(try coffer.coffer.captures.list().map(\.id) == ids.reversed()) }
  }

  @Test("A capture comes with its title and small parts; its photo when somebody asks for it, bit for bit")
  func travel() throws {
    // Three parts, one of them across the border of photo and depth map.
    let capture = try first.take(
      photoByteCount: 17 << 20, depthByteCount: 300_001, title: "Meter", tags: ["home"])
    try link()
    let upload = try first.coffer.captures.summary(of: capture).upload
    #expect(
      upload.state == .uploaded && upload.isSynced && upload.removalTime == nil && upload.releaseTime != nil)
    let here = try second.coffer.captures.summary(of: capture)
    #expect(here.label == CaptureLabel(title: "Meter", tags: ["home"]) && !here.isWhole)
    #expect(throws: CaptureError.elsewhere) { try second.coffer.captures.verify(capture) }
    let account = try second.coffer.account.open()
    #expect(try account.capturesElsewhere() == [capture])
    #expect(try account.status().capturesElsewhereCount == 1)
    #expect(try second.fetch(capture, at: folder.remote))
    #expect(try account.capturesElsewhere().isEmpty)
    #expect(try second.files(of: capture) == first.files(of: capture))
    #expect(try second.coffer.captures.verify(capture).signer == .formerDevice)
    // Getting a capture changes nothing that others have to know.
    #expect(try second.sync(at: folder.remote).sentCount == 0)
    #expect(try first.sync(at: folder.remote).changedCount == 0)
  }

  @Test("A capture that is small comes as a whole")
  func small() throws {
    let capture = try first.take(photoByteCount: 9_000)
    try link()
    #expect(try second.coffer.captures.summary(of: capture).isWhole)
    #expect(try second.files(of: capture) == first.files(of: capture))
  }

  @Test("What both had is on both; titles that one changes, or both, are equal on both afterwards")
  func labels() throws {
    let one = try first.take(photoByteCount: 100_000, title: "one")
    let two = try second.take(photoByteCount: 100_000)
    try link()
    try settle()
    #expect(try first.labels() == [one: "one", two: ""])
    try second.relabel(one, "better")
    try first.relabel(two, "two")
    try settle()
    #expect(try first.labels() == [one: "better", two: "two"])
    try first.relabel(one, "from the first")
    try second.relabel(one, "from the second")
    try settle()
    let crossed = try first.labels()[one]
    #expect(crossed == "from the first" || crossed == "from the second")
    for coffer in [first, second] {
      #expect(try coffer.coffer.account.open().status().missingCount == 0)
      #expect(try coffer.sync(at: folder.remote).sentCount == 0)
    }
    // Who sees the one that is in force replaces it.
    try first.relabel(one, "last")
    try settle()
    #expect(try second.labels()[one] == "last")
    try first.relabel(one, "")
    try settle()
    #expect(try second.labels()[one] == "")
  }

  @Test("A title that one gives while the other removes the capture is missing nowhere")
  func titleOfRemoved() throws {
    let capture = try first.take(photoByteCount: 9_000, title: "one")
    try link()
    try first.relabel(capture, "two")
    try second.coffer.captureAccess.remove(capture)
    try settle()
    #expect(try first.labels().isEmpty)
    let third = try SyncedCoffer(clock: clock.clock)
    try third.join(first, at: folder.remote, name: "third")
    for _ in 0..<6 {
      for coffer in [first, second, third] {
        #expect(try coffer.sync(at: folder.remote).missingCount == 0)
        #expect(try coffer.coffer.account.open().status().missingCount == 0)
      }
      clock.advance(8 * 86_400)
    }
    #expect(try first.coffer.captures.sharedRows().isEmpty)
  }

  @Test("A capture that one removes is hidden on the other, and erased when weeks have passed")
  func removal() throws {
    let capture = try first.take(photoByteCount: 100_000, title: "one")
    let kept = try first.take(photoByteCount: 100_000)
    try link()
    #expect(try second.fetch(capture, at: folder.remote))
    try first.coffer.captureAccess.remove(capture)
    try settle()
    #expect(try second.labels() == [kept: ""])
    #expect(throws: CaptureError.notFound) { try second.coffer.captures.summary(of: capture) }
    #expect(
      try second.coffer.captures.sharedRows().contains { $0.id == capture && $0.isHidden && $0.isWhole })
    for _ in 0..<6 {
      clock.advance(8 * 86_400)
      try settle()
    }
    #expect(try second.coffer.captures.sharedRows().map(\.id) == [kept])
    #expect(try second.coffer.captures.listing().isComplete)
  }

  @Test(
    "A capture is released when every part was read back, and comes back; one that is damaged there stays")
  func release() throws {
    let capture = try first.take(photoByteCount: 17 << 20, depthByteCount: 70_000)
    let before = try first.files(of: capture)
    try first.makeAccount(at: folder.remote, folder: folder.path)
    #expect(try first.release(capture, at: folder.remote) == (17 << 20) + 70_000)
    #expect(try !first.coffer.captures.summary(of: capture).isWhole)
    #expect(try first.sync(at: folder.remote).sentCount == 0)
    #expect(try first.sync(.verify, at: folder.remote).alarms.isEmpty)
    #expect(try first.fetch(capture, at: folder.remote))
    #expect(try first.files(of: capture) == before)

    for (name, bytes) in try folder.files() where name.contains("/pack/") && bytes.count > 1 << 20 {
      var changed = bytes
      changed[changed.count / 2] ^= 1
      try changed.write(to: URL(filePath: folder.path + "/" + name))
      #expect(try first.release(capture, at: folder.remote) == nil)
      try bytes.write(to: URL(filePath: folder.path + "/" + name))
    }
    let segments = try folder.files().filter { $0.key.contains("/chain/") }
    try #require(!segments.isEmpty)
    for (name, bytes) in segments {
      try FileManager.default.removeItem(atPath: folder.path + "/" + name)
      #expect(throws: SyncError.notUploaded) {
        _ = try first.release(capture, at: folder.remote)
      }
      try bytes.write(to: URL(filePath: folder.path + "/" + name))
    }
    #expect(try first.files(of: capture) == before)
    // One that waits is nowhere else.
    let other = try first.take(photoByteCount: 100_000)
    #expect(throws: SyncError.notUploaded) {
      let account = try first.coffer.account.open()
      _ = try account.countWaiting()
      _ = try account.release([other], at: folder.remote) { _, _ in }
    }
  }

  @Test("A capture with a part that is nowhere, or another one, is not fetched, and nothing of it stays")
  func missingPart() throws {
    let capture = try first.take(photoByteCount: 17 << 20)
    try link()
    let large = try #require(
      try folder.files().filter { $0.key.contains("/pack/") && $0.value.count > 1 << 20 }.keys.max())
    try FileManager.default.removeItem(atPath: folder.path + "/" + large)
    let blobs = second.place.path + "/blobs"
    #expect(try !second.fetch(capture, at: folder.remote))
    #expect(try !second.coffer.captures.summary(of: capture).isWhole)
    #expect(try FileManager.default.contentsOfDirectory(atPath: blobs).isEmpty)
    // The device that has it puts it back.
    #expect(try first.sync(.verify, at: folder.remote).putBackCount > 0)
    try second.sync(at: folder.remote)
    #expect(try second.fetch(capture, at: folder.remote))
    #expect(try second.files(of: capture) == first.files(of: capture))

    // Damaged again where it is now, while the first place is not looked at any more.
    let newer = try #require(
      try folder.files().filter { $0.key.contains("/pack/") && $0.value.count > 1 << 20 && $0.key != large }
        .max { $0.value.count < $1.value.count })
    var changed = newer.value
    changed[changed.count / 2] ^= 1
    try changed.write(to: URL(filePath: folder.path + "/" + newer.key))
    let account = try first.coffer.account.open()
    #expect(try account.examinePacks(percent: 100, at: folder.remote) { _ in true }.damagedCount == 1)
    #expect(try account.run(.verify, at: folder.remote).putBackCount > 0)
    #expect(try account.examinePacks(percent: 100, at: folder.remote) { _ in true }.damagedCount == 0)
  }

  @Test("Captures are got with one request a pack; one that the place has not as a whole holds up no other")
  func several() throws {
    // Parts of 8 MiB, with shorter ones after them, which are in the pack of what follows.
    let captures = try (0..<3).map { try first.take(photoByteCount: 8 << 20, title: "\($0)") }
    try link()
    let account = try second.coffer.account.open()
    let packs = Set(captures.flatMap { packNames(of: $0, account) })
    try #require(packs.count < captures.reduce(0) { $0 + packNames(of: $1, account).count })
    var requestCount = 0
    let broken = try account.fetch(account.capturesElsewhere(), at: folder.remote) {
      requestCount = $0.requestCount
      return true
    }
    #expect(broken.isEmpty && requestCount == packs.count)
    for capture in captures { #expect(try second.files(of: capture) == first.files(of: capture)) }

    // The pack with the end of one capture is gone.
    for capture in captures { #expect(try second.release(capture, at: folder.remote) == 8 << 20) }
    let parts = try #require(account.history.hashes(of: version(of: captures[1], account))).count
    let last = ContentName(version(of: captures[1], account), part: UInt16(parts - 1))
    let gone = try #require(account.history.packs(holding: last).first)
    let hit = captures.filter { packNames(of: $0, account).contains(gone) }
    try #require(hit.contains(captures[1]) && hit.count < captures.count)
    let file = try #require(try folder.files().keys.first { $0.hasSuffix(gone.path) })
    try FileManager.default.removeItem(atPath: folder.path + "/" + file)
    #expect(try second.coffer.account.open().fetch(captures, at: folder.remote) == hit)
    for capture in captures {
      #expect(try second.coffer.captures.summary(of: capture).isWhole == !hit.contains(capture))
    }
    // The same is held back when it is to be released, and the others are.
    var released: [CaptureID] = []
    let held = try first.coffer.account.open().release(captures, at: folder.remote) { id, _ in
      released.append(id)
    }
    #expect(held == hit && released == captures.filter { !hit.contains($0) })
  }

  @Test(
    "Of a released capture the only copy is damaged: a look at the place names it", arguments: [false, true])
  func lostElsewhere(isCutOff: Bool) throws {
    let capture = try first.take(photoByteCount: 100_000, title: "only")
    try first.makeAccount(at: folder.remote, folder: folder.path)
    #expect(try first.release(capture, at: folder.remote) == 100_000)
    #expect(try first.sync(.verify, at: folder.remote).lostCaptures.isEmpty)
    let sound = try first.coffer.account.drill(
      at: folder.remote, first.coffer.account.open().address(), with: AccountSecret(SyncedCoffer.words),
      enclave: SyncedCoffer.enclave)
    #expect(sound.missingCount == 0)
    let (name, bytes) = try #require(
      try folder.files().filter { $0.key.contains("/pack/") }.max { $0.value.count < $1.value.count })
    var damaged = bytes
    if isCutOff { damaged.removeLast(5_000) } else { damaged[bytes.count / 2] ^= 1 }
    try damaged.write(to: URL(filePath: folder.path + "/" + name))
    let account = try first.coffer.account.open()
    // A drill reads all of it.
    let drill = try first.coffer.account.drill(
      at: folder.remote, account.address(), with: AccountSecret(SyncedCoffer.words),
      enclave: SyncedCoffer.enclave)
    #expect(drill.missingCount == 1 && drill.captureCount == 1)
    // Bytes that changed are seen by who reads them, another length by a list.
    if !isCutOff {
      #expect(try account.examinePacks(percent: 100, at: folder.remote) { _ in true }.damagedCount == 1)
    }
    #expect(try account.run(.verify, at: folder.remote).lostCaptures == [capture])
  }

  private func version(of capture: CaptureID, _ account: Synchronizer) -> RecordVersion {
    RecordVersion(record: capture, version: account.history.shownVersions(of: capture)[0].version)
  }

  /// The packs that hold the further parts of a capture.
  private func packNames(of capture: CaptureID, _ account: Synchronizer) -> Set<ObjectName> {
    let version = version(of: capture, account)
    let count = account.history.hashes(of: version)?.count ?? 0
    return Set((1..<count).flatMap { account.history.packs(holding: ContentName(version, part: UInt16($0))) })
  }

  @Test("A coffer that joins again has its captures once, and gets those that are not here")
  func joiningAgain() throws {
    let one = try first.take(photoByteCount: 100_000, title: "one")
    let two = try second.take(photoByteCount: 200_000, title: "two")
    try link()
    try settle()
    try first.coffer.account.forget()
    _ = try first.coffer.captureAccess.changeLabel(of: two) { $0.title = "renamed" }
    #expect(try first.join(second, at: folder.remote, name: "again").outcome == .complete)
    try settle()
    #expect(try first.labels().keys.sorted() == [one, two].sorted())
    #expect(try second.labels() == first.labels())
    #expect(try first.fetch(two, at: folder.remote))
    #expect(try first.files(of: two) == second.files(of: two))
  }

  @Test(
    "Captures that are damaged or missing here are not told to be removed, and messages go on",
    arguments: [
      "DELETE FROM captures", "UPDATE captures SET record = zeroblob(length(record))",
      "UPDATE captureState SET sealed = zeroblob(length(sealed))",
    ])
  func damage(_ sql: String) throws {
    let captures = try (0..<2).map { try first.take(photoByteCount: 100_000, title: "\($0)") }
    try link()
    first.coffer.close()
    var database: OpaquePointer?
    try #require(
      sqlite3_open_v2(first.place.path + "/coffer.db", &database, SQLITE_OPEN_READWRITE, nil) == SQLITE_OK)
    #expect(sqlite3_exec(database, sql, nil, nil, nil) == SQLITE_OK)
    #expect(sqlite3_changes(database) > 0)
    sqlite3_close(database)
    let again = try SyncedCoffer(opening: first.place)
    try again.add("text")
    try second.relabel(captures[0], "renamed")
    let other = try second.take(photoByteCount: 100_000)
    try second.sync(at: folder.remote)
    let report = try again.sync(at: folder.remote)
    #expect(report.outcome == .complete && report.sentCount == 1 && report.onlyHereCount == 1)
    #expect(throws: CaptureError.corrupt(nil)) { try again.coffer.account.open().capturesElsewhere() }
    #expect(try second.sync(at: folder.remote).newCount == 1)
    #expect(try second.labels() == [captures[0]: "renamed", captures[1]: "1", other: ""])
  }

  @Test("What the place shows of captures has no byte of them, and no title")
  func sealed() throws {
    let capture = try first.take(photoByteCount: 100_000, title: "Unmistakable title")
    try link()
    let photo = try #require(try first.files(of: capture)["photo.bin"])
    var needles = [Data("Unmistakable".utf8), photo.prefix(32), photo.suffix(32)]
    needles.append(capture.withBytes { bytes in unsafe bytes.withUnsafeBytes { unsafe Data($0) } })
    for (name, bytes) in try folder.files() {
      for needle in needles { #expect(bytes.range(of: needle) == nil, "\(name)") }
    }
  }

  @Test(
    "A revoked device that had removed captures: they are back; one that it took is cut off, and is taken in")
  func revocation() throws {
    let captures = try (0..<3).map { try first.take(photoByteCount: 100_000, title: "\($0)") }
    try link()
    try first.sync(at: folder.remote)
    clock.advance(3_600)
    let since = clock.now
    for capture in captures { try second.coffer.captureAccess.remove(capture) }
    let planted = try second.take(photoByteCount: 9 << 20, title: "planted")
    let plantedFiles = try second.files(of: planted)
    clock.advance(60)
    try second.sync(at: folder.remote)
    try first.sync(at: folder.remote)
    #expect(try first.labels() == [planted: "planted"])
    let secret = AccountSecret(try SyncedCoffer.passphrase())
    _ = try first.coffer.account.open().revoke(
      try second.device(), since: since, with: secret, at: folder.remote)
    #expect(
      try first.labels() == Dictionary(uniqueKeysWithValues: captures.enumerated().map { ($1, "\($0)") }))
    let listed = try first.coffer.account.open().quarantine()
    #expect(Set(listed.filter { $0.kind == .captureRemoval }.map(\.message)) == Set(captures))
    #expect(listed.filter { $0.kind == .capture }.map(\.message) == [planted] && listed.count == 4)
    let taking = try first.coffer.account.open().takeFromQuarantine([planted]) { folder.remote }
    #expect(taking.taken == [planted] && taking.unreadable.isEmpty)
    #expect(try first.labels()[planted] == "planted")
    #expect(try first.files(of: planted) == plantedFiles)
    #expect(try first.sync(at: folder.remote).outcome == .complete)
    #expect(try first.coffer.account.open().quarantine().allSatisfy { $0.kind == .captureRemoval })
    let third = try SyncedCoffer(clock: clock.clock)
    try third.join(first, at: folder.remote, name: "third")
    #expect(try third.labels() == first.labels())
    #expect(try third.coffer.account.open().status().missingCount == 0)
  }
}

extension SyncedCoffer {
  /// A capture with random bytes.
  @discardableResult
  func take(
    photoByteCount: Int, depthByteCount: Int? = nil, title: String = "", tags: [String] = []
  ) throws -> CaptureID {
    func source(_ count: Int) -> PartSource { PartSource(SystemRandom.secretBytes(count: count)) }
    var capture = NewCapture(photo: source(photoByteCount))
    if let depthByteCount { capture.depth = source(depthByteCount) }
    capture.metadata = PartSource(SecretBytes(copying: Array("{\"lens\":1}".utf8).span.bytes))
    capture.label = CaptureLabel(title: title, tags: tags)
    return try coffer.captureAccess.add(capture, signer: coffer.captureAccess.signer()).id
  }

  func relabel(_ capture: CaptureID, _ title: String) throws {
    _ = try coffer.captureAccess.changeLabel(of: capture) { $0.title = title }
  }

  /// The titles of all captures.
  func labels() throws -> [CaptureID: String] {
    Dictionary(uniqueKeysWithValues: try coffer.captures.list().map { ($0.id, $0.label.title) })
  }

  /// Makes a capture whole.
  /// - Returns: false when the remote does not have every part.
  func fetch(_ capture: CaptureID, at remote: any Remote) throws -> Bool {
    try coffer.account.open().fetch([capture], at: remote).isEmpty
  }

  /// Frees what a capture takes here.
  /// - Returns: bytes that were freed; nil when the remote does not have every part.
  func release(_ capture: CaptureID, at remote: any Remote) throws -> Int? {
    var byteCount = 0
    let broken = try coffer.account.open().release([capture], at: remote) { byteCount += $1 }
    return broken.isEmpty ? byteCount : nil
  }

  /// The files that an export writes.
  func files(of capture: CaptureID) throws -> [String: Data] {
    let place = try TemporaryHome()
    let folder = place.path + "/out"
    try FileManager.default.createDirectory(atPath: place.path, withIntermediateDirectories: true)
    let names = try coffer.captures.export(capture, to: folder)
    return Dictionary(
      uniqueKeysWithValues: try names.map { ($0, try Data(contentsOf: URL(filePath: folder + "/" + $0))) })
  }
}
