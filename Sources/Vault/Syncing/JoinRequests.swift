// SPDX-License-Identifier: Apache-2.0
//
// Requests to be enrolled at an account's place. They are in no history: whoever has the card can write and read them, and
// a member believes one only after its user has compared the words.

public import Histories
internal import Keychains
internal import Remotes
internal import Secrets

/// A device that asks to be enrolled.
public struct WaitingDevice: Sendable {
  /// What it asks to be enrolled as.
  public let entry: DeviceEntry
  /// When it asked last, by its own clock, in seconds since 1970.
  public let askedAt: UInt64
  /// Twelve words that the device shows too, if nobody exchanged its keys on the way.
  public let words: [String]
  /// Its requests.
  let requests: [RequestID]
}

extension DeviceEntry {
  /// Twelve words, which stand for this device's keys, level and name in an account.
  func words(in account: AccountID) -> [String] {
    WordList.words(of: fingerprint(in: account), count: 12)
  }
}

/// The requests at the place of an account.
struct JoinRequests {
  private let requests: RemoteRequests
  private let address: AccountAddress

  /// How many objects are looked at: anybody with the credentials can write there.
  private static let objectLimit = 1_024

  init(_ remote: any Remote, _ address: AccountAddress) {
    requests = RemoteRequests(remote, account: address.account)
    self.address = address
  }

  /// Asks for a device to be enrolled.
  func put(_ request: JoinRequest, id: RequestID) throws {
    let object = request.seal(id: id, account: address.account, urlSecret: address.secret)
    _ = try answer(.put(.request(id), object))
  }

  /// Who asks, the latest first.
  /// - Parameters:
  ///   - now: requests that are void then are left out.
  ///   - known: devices that were enrolled already.
  /// - Returns: also how many objects there are that another card made, or nobody.
  func waiting(at now: UInt64, without known: Set<DeviceID>) throws -> (
    devices: [WaitingDevice], unreadableCount: Int
  ) {
    let all = try all()
    let open = all.requests.filter { !$0.request.isVoid(at: now) && !known.contains($0.request.device.id) }
    let devices = Dictionary(grouping: open, by: \.request.device).map { entry, asked in
      WaitingDevice(
        entry: entry, askedAt: asked.map(\.request.madeAt).max() ?? 0,
        words: entry.words(in: address.account), requests: asked.map(\.id))
    }
    return (
      devices.sorted { ($1.askedAt, $0.entry.id) < ($0.askedAt, $1.entry.id) }, all.unreadable.count
    )
  }

  /// Deletes requests, as far as the place allows it: what stays is void after a while.
  func delete(_ ids: [RequestID]) {
    for id in ids { _ = requests.carryOut(.delete(.request(id))) }
  }

  /// Deletes what is void, was granted, or cannot be read for as long.
  func deleteVoid(at now: UInt64, known: Set<DeviceID>) throws {
    let all = try all()
    delete(
      all.requests.filter { $0.request.isVoid(at: now) || known.contains($0.request.device.id) }.map(\.id))
    // What another card made, or nobody, goes by the place's clock.
    delete(
      all.unreadable.filter { object in
        object.date.map { $0 + JoinRequest.lifetime < all.time ?? 0 } ?? false
      }.compactMap { if case .request(let id) = $0.name { id } else { nil } })
  }

  private func all() throws -> (
    requests: [(id: RequestID, request: JoinRequest)], unreadable: [ListedObject], time: UInt64?
  ) {
    guard case .listed(let objects, let time) = try answer(.list(.requests)) else { return ([], [], nil) }
    var found: [(id: RequestID, request: JoinRequest)] = []
    var unreadable: [ListedObject] = []
    let latest = objects.sorted { ($1.date ?? 0, $0.name) < ($0.date ?? 0, $1.name) }
    for object in latest.prefix(Self.objectLimit) {
      guard case .request(let id) = object.name else { continue }
      guard object.byteCount <= JoinRequest.byteCountLimit,
        case .got(let received) = try answer(.get(object.name)),
        let request = try? JoinRequest(
          received.bytes, id: id, account: address.account, urlSecret: address.secret)
      else {
        unreadable.append(object)
        continue
      }
      found.append((id, request))
    }
    return (found, unreadable, time)
  }

  private func answer(_ request: Request) throws -> Answer {
    do { return try requests.carryOut(request).get() } catch { throw SyncError.remote(error) }
  }
}
