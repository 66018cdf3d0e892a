// SPDX-License-Identifier: Apache-2.0
//
// What synchronisation leaves in memory: contents and keys nowhere, once the coffers are closed.

import Captures
import CofferKit
import Couriers
import Foundation
import Glibc
import Histories
import MemorySearch
import MessageFormats
import Primitives
import Remotes
import S3Server
import Secrets
import Testing

@testable import Syncing

@Suite("What synchronisation leaves in memory")
struct SyncMemoryTests {
  @Test("Contents of messages and captures, epoch keys and the card's secret are gone afterwards")
  func nothingIsLeft() async {
    await #expect(processExitsWith: .success) {
      recordingErrors {
        for (name, needle) in try SyncMemoryTests().synchronise() {
          try ProcessMemory.expectGone(needle, "\(name)")
        }
      }
    }
  }

  @Test(
    "A passphrase that an account gets, cards, and keys of devices that rejoined or were enrolled, are gone afterwards"
  )
  func slots() async {
    await #expect(processExitsWith: .success) {
      recordingErrors {
        for (name, needle) in try SyncMemoryTests().exchange() {
          try ProcessMemory.expectGone(needle, "\(name)")
        }
      }
    }
  }

  @Test("The search finds an epoch key that is in use")
  func searchWorks() async {
    await #expect(processExitsWith: .success) {
      recordingErrors {
        let folder = try RemoteFolder()
        let coffer = try SyncedCoffer()
        try coffer.makeAccount(at: folder.remote, folder: folder.path)
        let synchronizer = try coffer.coffer.account.open()
        let needle = try #require(synchronizer.history.epochKeys.first).key.withBytes { Needle($0) }
        #expect(try !ProcessMemory.places(of: needle).isEmpty)
        _ = try synchronizer.status()
      }
    }
  }

  @Test(
    "The process that has the network has no key and no content, while it has the credentials",
    .enabled(if: geteuid() == 0, "only root reads the memory of a process that forbids it"))
  func courier() async {
    await #expect(processExitsWith: .success) { recordingErrors { try SyncMemoryTests().searchCourier() } }
  }

  private func searchCourier() throws {
    let server = try S3Server()
    let place = try S3Place(
      isEncrypted: false, host: "127.0.0.1", port: server.port, bucket: S3Server.bucket, prefix: "",
      region: S3Server.region, accessKey: S3Server.accessKey,
      secretKey: SharedSecretBytes(SecretBytes(copying: Array(S3Server.secretKey.utf8).span.bytes)))
    // The program that was built beside these tests.
    let remote = try RemotePlace.s3(place).open()
    let coffer = try SyncedCoffer()
    let content = SystemRandom.secretBytes(count: 64)
    _ = try coffer.coffer.addMessage(
      content, metadata: MessageMetadata(title: "", contentType: "application/octet-stream"))
    let report = try coffer.makeAccount(at: remote, place: .s3(place))
    #expect(report.outcome == .complete && report.sentCount == 1)
    let synchronizer = try coffer.coffer.account.open()
    var needles = [
      content.withBytes { Needle($0) }, try synchronizer.address().secret.withBytes { Needle($0) },
    ]
    for (_, key) in synchronizer.history.epochKeys { needles.append(key.withBytes { Needle($0) }) }
    let process = try #require(Self.children(named: "coffer-courier").first)
    #expect(needles.count == 3)
    for needle in needles { #expect(try ProcessMemory.places(of: needle, in: process) == []) }
    let credentials = Array(S3Server.secretKey.utf8)
    #expect(try !ProcessMemory.places(of: Needle(credentials.span.bytes), in: process).isEmpty)
    _ = try synchronizer.run(.sync, at: remote)
  }

  /// The processes that this one has started and that run such a program.
  private static func children(named name: String) throws -> [Int32] {
    try FileManager.default.contentsOfDirectory(atPath: "/proc").compactMap { Int32($0) }.filter { process in
      let state = try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8)
      let fields = state?.split(separator: " ") ?? []
      return fields.count > 3 && fields[1] == "(\(name))" && fields[3] == "\(getpid())"
    }
  }

  /// The account gets another passphrase, and the device another identifier.
  @inline(never)
  private func exchange() throws -> [(name: String, needle: Needle)] {
    let folder = try RemoteFolder()
    let coffer = try SyncedCoffer()
    try coffer.makeAccount(at: folder.remote, folder: folder.path)
    var typed = SystemRandom.secretBytes(count: 32)
    typed.withMutableBytes { bytes in
      for offset in 0..<bytes.byteCount {
        let letter = unsafe bytes.bytes.unsafeLoad(fromByteOffset: offset, as: UInt8.self) % 26 + 97
        bytes.storeBytes(of: letter, toByteOffset: offset, as: UInt8.self)
      }
    }
    var needles = [("passphrase", typed.withBytes { Needle($0) })]
    let new = AccountSecret(try Passphrase(utf8: typed))
    let synchronizer = try coffer.coffer.account.open()
    _ = try synchronizer.changeSlots(
      adding: new, removing: { $0.filter { $0.kind == .passphrase }.map(\.id) },
      costs: SyncedCoffer.costs(), with: AccountSecret(SyncedCoffer.passphrase()), at: folder.remote)
    _ = try synchronizer.rejoin(with: new, enclave: SyncedCoffer.enclave, at: folder.remote)
    needles.append(("secret of the former card", try synchronizer.address().secret.withBytes { Needle($0) }))
    _ = try synchronizer.changeSlots(
      adding: new, removing: { _ in [] }, changesCard: true, costs: SyncedCoffer.costs(), with: new,
      at: folder.remote)
    let second = try SyncedCoffer()
    _ = try second.coffer.account.askToJoin(
      at: folder.remote, synchronizer.address(), enclave: SyncedCoffer.enclave, name: "second")
    let waiting = try #require(try synchronizer.waitingDevices(at: folder.remote).devices.first)
    _ = try synchronizer.approve(waiting, with: new, at: folder.remote)
    #expect(try second.sync(at: folder.remote).outcome == .complete)
    needles.append(
      ("secret of the card", try second.coffer.account.open().address().secret.withBytes { Needle($0) }))
    second.coffer.close()
    for (number, key) in synchronizer.history.epochKeys {
      needles.append(("key of epoch \(number)", key.withBytes { Needle($0) }))
    }
    coffer.coffer.close()
    return needles
  }

  /// One coffer sends two messages that the other gets, one of them in parts.
  @inline(never)
  private func synchronise() throws -> [(name: String, needle: Needle)] {
    let folder = try RemoteFolder()
    let (first, second) = (try SyncedCoffer(), try SyncedCoffer())
    let content = SystemRandom.secretBytes(count: 64)
    let metadata = MessageMetadata(title: "", tags: [], contentType: "application/octet-stream", date: 0)
    _ = try first.coffer.addMessage(content, metadata: metadata)
    let end = SystemRandom.secretBytes(count: 64)
    var large = SecretBytes(zeroed: 9 << 20)
    end.withBytes { end in large.withMutableBytes { $0.copy(end, to: (9 << 20) - 64) } }
    _ = try first.coffer.addMessage(large, metadata: metadata)
    let photo = SystemRandom.secretBytes(count: 64)
    var film = SecretBytes(zeroed: 9 << 20)
    photo.withBytes { photo in film.withMutableBytes { $0.copy(photo, to: (9 << 20) - 64) } }
    let captures = first.coffer.captureAccess
    let capture = try captures.add(NewCapture(photo: PartSource(film)), signer: captures.signer()).id
    try first.makeAccount(at: folder.remote, folder: folder.path)
    try second.join(first, at: folder.remote)
    #expect(try second.fetch(capture, at: folder.remote))
    #expect(try first.release(capture, at: folder.remote) != nil)
    var needles = [
      ("content", content.withBytes { Needle($0) }), ("last part", end.withBytes { Needle($0) }),
      ("photo", photo.withBytes { Needle($0) }),
    ]
    let synchronizer = try second.coffer.account.open()
    for (number, key) in synchronizer.history.epochKeys {
      needles.append(("key of epoch \(number)", key.withBytes { Needle($0) }))
    }
    needles.append(
      ("secret of the card", try second.coffer.account.open().address().secret.withBytes { Needle($0) }))
    first.coffer.close()
    second.coffer.close()
    return needles
  }
}
