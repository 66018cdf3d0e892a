// SPDX-License-Identifier: Apache-2.0
//
// Where each private key is, and whether it can be opened there. Nothing is opened, and nobody is asked for anything:
// the envelope is compared with the manifest, and its enclave says whether the key is one of its own.

public import Enclaves
public import Keychains
public import OpenPGP

/// Where a private key is.
public struct PrivateKeyPlace: Equatable, Sendable {
  /// Whether a key can be opened, as far as that can be told without opening it.
  public enum State: Equatable, Sendable {
    /// Nothing speaks against it.
    case here
    /// Its enclave cannot say now: it does not answer, is locked, or refuses. Nothing is known to be lost.
    case away(EnclaveError)
    /// It cannot be opened in this coffer any more. Only a backup of the key helps.
    case lost(PrivateKeyLoss)
  }

  /// The kind of enclave that it is sealed to, as its own envelope says; nil without an envelope.
  public let kind: EnclaveKind?
  /// Whether it can be opened.
  public let state: State

  /// Whether it cannot be opened in this coffer any more.
  public var isLost: Bool { if case .lost = state { true } else { false } }

  /// A key in an enclave of this kind.
  package init(kind: EnclaveKind?, state: State = .here) {
    self.kind = kind
    self.state = state
  }
}

/// Why a private key cannot be opened any more.
public enum PrivateKeyLoss: String, Sendable, CaseIterable {
  /// Its envelope, or the guard's record, is not there or is not what was stored.
  case damaged
  /// It is sealed to another chip, or to this one before it was cleared.
  case otherChip
  /// The guard's PIN belongs to another chip, or to this one before it was cleared.
  case guardOfOtherChip
  /// A change of mode left it behind, because it could not be opened.
  case leftBehind
}

extension PrivateKeyCustody {
  /// Where every private key is.
  /// - Parameter asks: whether enclaves are asked for their keys, once for each chip; otherwise only what is stored is
  ///   compared.
  /// - Throws: `CustodyError.locked`, `.corrupt`, `.keychain`.
  public func places(asking asks: Bool = true) throws(CustodyError) -> [Fingerprint: PrivateKeyPlace] {
    var finder = PlaceFinder(try CustodyItems(keychain), enclaveOfKind, asks: asks)
    return finder.all()
  }

  /// Why the guard does not open any more; nil if nothing speaks against it, or there is none.
  /// - Throws: as ``places(asking:)``.
  public func guardLoss() throws(CustodyError) -> PrivateKeyLoss? {
    PlaceFinder(try CustodyItems(keychain), enclaveOfKind).guardLoss
  }

  /// The same of a keychain, as far as what is stored says it.
  public static func places(_ keychain: KeychainService) throws(CustodyError) -> [PrivateKeyPlace] {
    var finder = PlaceFinder(try CustodyItems(keychain), { _ in nil }, asks: false)
    return Array(finder.all().values)
  }

  /// How many keys have no envelope, or one that does not match the manifest. Nothing is opened or asked.
  public func examine() throws -> Int { try places(asking: false).values.count(where: \.isLost) }
}

/// Finds the places of keys at one moment, and asks each chip once.
struct PlaceFinder {
  private let items: CustodyItems
  private let enclaveOfKind: (EnclaveKind) -> (any Enclave)?
  private let asks: Bool
  /// What the chip of an origin has said.
  private var answers: [Origin: PrivateKeyPlace.State] = [:]
  /// What every key shares: the guard.
  private(set) var guardLoss: PrivateKeyLoss?

  private struct Origin: Hashable {
    let kind: EnclaveKind
    let name: [UInt8]
  }

  init(_ items: CustodyItems, _ enclaveOfKind: @escaping (EnclaveKind) -> (any Enclave)?, asks: Bool = true) {
    self.items = items
    self.enclaveOfKind = enclaveOfKind
    self.asks = asks
    guard items.isGuardWhole else {
      guardLoss = .damaged
      return
    }
    let ways = (try? items.guardRecord().pinWays) ?? []
    if !ways.isEmpty, ways.allSatisfy({ answer($0.key) == .lost(.otherChip) }) {
      guardLoss = .guardOfOtherChip
    }
  }

  mutating func all() -> [Fingerprint: PrivateKeyPlace] {
    var places: [Fingerprint: PrivateKeyPlace] = [:]
    for fingerprint in items.manifest.digests.keys { places[fingerprint] = place(fingerprint) }
    return places
  }

  /// The keys that cannot be opened any more.
  mutating func lost() -> Set<Fingerprint> { Set(all().filter(\.value.isLost).keys) }

  /// The place of a key that the manifest names.
  mutating func place(_ fingerprint: Fingerprint) -> PrivateKeyPlace {
    guard let envelope = items.stored(fingerprint, .permanent),
      items.manifest.digests[fingerprint] == envelope.digest()
    else { return PrivateKeyPlace(kind: nil, state: .lost(.damaged)) }
    let kind = envelope.key.kind
    guard items.manifest.names(envelope) else {
      return PrivateKeyPlace(kind: kind, state: .lost(.leftBehind))
    }
    if let guardLoss { return PrivateKeyPlace(kind: kind, state: .lost(guardLoss)) }
    return PrivateKeyPlace(kind: kind, state: answer(envelope.key))
  }

  private mutating func answer(_ key: EnclaveKey) -> PrivateKeyPlace.State {
    guard asks else { return .here }
    guard let enclave = enclaveOfKind(key.kind) else { return .away(.unavailable) }
    guard let name = try? enclave.origin(of: key) else { return .lost(.damaged) }
    let origin = Origin(kind: key.kind, name: name)
    if let known = answers[origin] { return known }
    let state: PrivateKeyPlace.State
    do throws(EnclaveError) {
      try enclave.checkReadiness(of: key)
      state = .here
    } catch {
      switch error {
      case .otherChip: state = .lost(.otherChip)
      case .corrupt, .wrongKind: state = .lost(.damaged)
      default: state = .away(error)
      }
    }
    answers[origin] = state
    return state
  }
}
