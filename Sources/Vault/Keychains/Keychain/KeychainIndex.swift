// SPDX-License-Identifier: Apache-2.0
//
// The index of a class: an authenticated digest of all items sealed under one class key, itself such an item
// (Specs/keychain.md, "Index"). It shows whether anybody else has removed, renamed or put back an item: then
// the index does not match.

internal import Foundation
internal import Primitives
internal import Secrets

struct KeychainIndex {
  let accessibility: AccessibilityClass
  private(set) var digest = SetDigest()

  /// The account under which the index of a class is stored; no other item may be called so.
  static func account(_ accessibility: AccessibilityClass) -> String {
    "\(reservedPrefix)\(accessibility.rawValue)"
  }

  static let reservedPrefix = "app.rial.keychain.index."

  /// The digest of the items of one class, index items left out.
  init(of items: [SealedItem], _ accessibility: AccessibilityClass, key: SharedSecretBytes) {
    self.accessibility = accessibility
    var hash = SetHash(key: Self.memberKey(key))
    for item in items where item.accessibility == accessibility && !item.isIndex {
      hash.add(Self.member(item).rawSpan, to: &digest)
    }
  }

  /// The index as it is sealed: count (4) ‖ sum (32).
  var bytes: [UInt8] {
    var bytes: [UInt8] = []
    bytes.append(bigEndian: UInt32(digest.count))
    return bytes + digest.sum
  }

  /// length of account (4) ‖ account ‖ sealed value
  private static func member(_ item: SealedItem) -> [UInt8] {
    var member: [UInt8] = []
    member.append(bigEndian: UInt32(item.account.utf8.count))
    return member + item.account.utf8 + item.sealed
  }

  private static func memberKey(_ classKey: SharedSecretBytes) -> SecretBytes {
    classKey.withBytes { HKDF.secret(from: $0, info: "coffer keychain v1 index") }
  }
}

extension SealedItem {
  var isIndex: Bool { account.utf8.starts(with: KeychainIndex.reservedPrefix.utf8) }
}
