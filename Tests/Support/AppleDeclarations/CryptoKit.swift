// SPDX-License-Identifier: Apache-2.0
//
// What Sources/Enclaves/SecureEnclave uses of Apple's CryptoKit, declared so that it can be compiled elsewhere
// (`scripts/check-apple`). Nothing here is ever run or linked. Some names of CryptoKit that are not used stand
// here because they are names of ours too.

public import Foundation
public import Security

public protocol Digest: Hashable, ContiguousBytes, CustomStringConvertible, Sequence, Sendable
where Element == UInt8 {
  static var byteCount: Int { get }
}

public struct SHA256 {}
public struct SymmetricKey {}

public struct SharedSecret: ContiguousBytes {
  public func withUnsafeBytes<R>(_ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R {
    try [].withUnsafeBytes(body)
  }
}

public enum P256 {
  public enum KeyAgreement {
    public struct PublicKey {
      public let x963Representation: Data
      public init<Bytes: ContiguousBytes>(x963Representation: Bytes) throws { fatalError("not run") }
    }
  }

  public enum Signing {
    public struct PublicKey {
      public let x963Representation: Data
    }

    public struct ECDSASignature {
      public let derRepresentation: Data
    }
  }
}

public enum SecureEnclave {
  public static var isAvailable: Bool { false }

  public enum P256 {
    public enum KeyAgreement {
      public struct PrivateKey {
        public let dataRepresentation: Data
        public let publicKey: CryptoKit.P256.KeyAgreement.PublicKey

        public init(compactRepresentable: Bool = true, accessControl: SecAccessControl) throws {
          fatalError("not run")
        }
        public init(dataRepresentation: Data) throws { fatalError("not run") }

        public func sharedSecretFromKeyAgreement(
          with publicKeyShare: CryptoKit.P256.KeyAgreement.PublicKey
        ) throws -> SharedSecret { SharedSecret() }
      }
    }

    public enum Signing {
      public struct PrivateKey {
        public let dataRepresentation: Data
        public let publicKey: CryptoKit.P256.Signing.PublicKey

        public init(compactRepresentable: Bool = true, accessControl: SecAccessControl) throws {
          fatalError("not run")
        }
        public init(dataRepresentation: Data) throws { fatalError("not run") }

        public func signature<D: Digest>(
          for digest: D
        ) throws -> CryptoKit.P256.Signing.ECDSASignature { fatalError("not run") }
      }
    }
  }
}
