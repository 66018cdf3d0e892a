// SPDX-License-Identifier: Apache-2.0
//
// What Sources/Enclaves/SecureEnclave and Sources/Keychains/Keychain use of Apple's Security framework, declared so
// that it can be compiled elsewhere (`scripts/check-apple`). Nothing here is ever run or linked. Where a type of
// Core Foundation and one of Foundation are the same object, they are one type here.

public import Foundation

public typealias CFString = NSString
extension NSString: @retroactive @unchecked Sendable {}
public typealias CFDictionary = NSDictionary
public typealias CFTypeRef = AnyObject
public typealias OSStatus = Int32
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

public let kSecClass = CFString()
public let kSecClassGenericPassword = CFString()
public let kSecAttrAccessible = CFString()
public let kSecAttrAccount = CFString()
public let kSecAttrLabel = CFString()
public let kSecAttrService = CFString()
public let kSecAttrSynchronizable = CFString()
public let kSecMatchLimit = CFString()
public let kSecMatchLimitAll = CFString()
public let kSecReturnAttributes = CFString()
public let kSecReturnData = CFString()
public let kSecUseDataProtectionKeychain = CFString()
public let kSecValueData = CFString()

public let errSecSuccess: OSStatus = 0
public let errSecNotAvailable: OSStatus = -25_291
public let errSecItemNotFound: OSStatus = -25_300
public let errSecInteractionNotAllowed: OSStatus = -25_308
public let errSecDecode: OSStatus = -26_275

public func SecItemAdd(_ attributes: CFDictionary, _ result: UnsafeMutablePointer<CFTypeRef?>?) -> OSStatus {
  errSecNotAvailable
}
public func SecItemCopyMatching(_ query: CFDictionary, _ result: UnsafeMutablePointer<CFTypeRef?>?)
  -> OSStatus
{
  errSecNotAvailable
}
public func SecItemDelete(_ query: CFDictionary) -> OSStatus { errSecNotAvailable }

public func SecAccessControlCreateWithFlags(
  _ allocator: CFAllocator?, _ protection: CFTypeRef, _ flags: SecAccessControlCreateFlags,
  _ error: UnsafeMutablePointer<Unmanaged<AnyObject>?>?
) -> SecAccessControl? { nil }
