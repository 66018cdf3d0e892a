// SPDX-License-Identifier: Apache-2.0
//
// What Sources/Enclaves/SecureEnclave uses of Apple's Security framework, declared so that it can be compiled
// elsewhere (`scripts/check-apple`). Nothing here is ever run or linked.

public final class CFString: Sendable {}
public typealias CFTypeRef = AnyObject
public struct CFAllocator {}

public final class SecAccessControl {}

public struct SecAccessControlCreateFlags: OptionSet, Sendable {
  public let rawValue: UInt
  public init(rawValue: UInt) { self.rawValue = rawValue }
  public static let devicePasscode = Self(rawValue: 1 << 4)
  public static let biometryAny = Self(rawValue: 1 << 1)
  public static let or = Self(rawValue: 1 << 14)
  public static let privateKeyUsage = Self(rawValue: 1 << 30)
}

public let kSecAttrAccessibleWhenUnlockedThisDeviceOnly = CFString()
public let kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly = CFString()
public let kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly = CFString()

public func SecAccessControlCreateWithFlags(
  _ allocator: CFAllocator?, _ protection: CFTypeRef, _ flags: SecAccessControlCreateFlags,
  _ error: UnsafeMutablePointer<Unmanaged<AnyObject>?>?
) -> SecAccessControl? { nil }
