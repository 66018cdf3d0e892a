// SPDX-License-Identifier: Apache-2.0
//
// A FIDO2 authenticator in software: the commands of CTAP 2.1 that hmac-secret with user verification takes. It never
// has a PIN in the clear, and keeps no secret that it gave.

#if SecurityKeys
  import Foundation
  import Primitives
  import Secrets

  /// One answer that is not a success.
  struct CTAPError: Error {
    let code: UInt8
    init(_ code: UInt8) { self.code = code }
  }

  /// What an authenticator keeps while it is unplugged.
  public struct AuthenticatorMemory: Codable, Sendable {
    struct Credential: Codable, Sendable {
      let id: [UInt8]
      let relyingParty: String
      let scalar: [UInt8]
      let point: [UInt8]
      let secretWithVerification: [UInt8]
      let secretWithout: [UInt8]
    }

    var credentials: [Credential] = []
    /// The first 16 bytes of the PIN's SHA-256; nil without a PIN.
    var pinHash: [UInt8]?
    var pinTries = 8
    var counter = 0

    /// Of a new key; nil for one without a PIN.
    public init(pin: String? = nil) {
      pinHash = pin.map { Array(SHA256.hash(Array($0.utf8).rawSpan).prefix(16)) }
    }
  }

  /// Between plugging in and taking out.
  struct Authenticator {
    var memory: AuthenticatorMemory
    var behaviour: SoftwareSecurityKey.Behaviour
    private var agreement = P256PrivateKeyBox()
    private let token = SystemRandom.publicBytes(count: 32)
    private var wrongInARow = 0

    init(_ memory: AuthenticatorMemory, _ behaviour: SoftwareSecurityKey.Behaviour) {
      self.memory = memory
      self.behaviour = behaviour
    }

    /// The answer to one message: a status, and CBOR after a success.
    mutating func answer(_ message: [UInt8]) -> [UInt8] {
      do {
        guard let command = message.first else { throw CTAPError(0x03) }
        let arguments = message.count > 1 ? CBOR(message.dropFirst()) : .map([])
        guard let arguments else { throw CTAPError(0x12) }
        switch command {
        case 0x01: return [0] + (try makeCredential(arguments)).encoded
        case 0x02: return [0] + (try getAssertion(arguments)).encoded
        case 0x04: return [0] + information.encoded
        case 0x06: return [0] + (try clientPIN(arguments)).encoded
        default: throw CTAPError(0x01)
        }
      } catch let error as CTAPError { return [error.code] } catch { return [0x7F] }
    }

    /// Whether a message makes the key wait for a touch.
    static func waitsForTouch(_ message: [UInt8]) -> Bool { message.first == 0x01 || message.first == 0x02 }

    // MARK: authenticatorGetInfo (section 6.4)

    private var information: CBOR {
      var options: [(CBOR, CBOR)] = [(.text("rk"), .bool(true)), (.text("up"), .bool(true))]
      if behaviour.hasReader { options.append((.text("uv"), .bool(true))) }
      options.append((.text("clientPin"), .bool(memory.pinHash != nil)))
      if behaviour.hasReader { options.append((.text("pinUvAuthToken"), .bool(true))) }
      var extensions: [CBOR] = behaviour.protectsCredentials ? [.text("credProtect")] : []
      if behaviour.hasSecrets { extensions.append(.text("hmac-secret")) }
      return .map([
        (.number(1), .array([.text("FIDO_2_0"), .text("FIDO_2_1")])),
        (.number(2), .array(extensions)), (.number(3), .bytes(Self.model)), (.number(4), .map(options)),
        (.number(5), .number(1_200)),
        (.number(6), .array(behaviour.protocols.map { .number($0) })),
      ])
    }

    static let model = Array("software authn 1".utf8)

    // MARK: authenticatorClientPIN (section 6.5)

    private mutating func clientPIN(_ arguments: CBOR) throws -> CBOR {
      let version = arguments[1]?.number ?? 0
      switch arguments[2]?.number {
      case 1: return .map([(.number(3), .number(memory.pinTries))])
      case 2: return .map([(.number(1), Self.cose(agreement.publicKey, algorithm: -25))])
      case 5, 9:
        let keys = try agreed(version, arguments[3])
        try check(pin: keys.decrypt(arguments[6]?.bytes ?? []))
        return token(keys)
      case 6:
        let keys = try agreed(version, arguments[3])
        switch behaviour.finger {
        case .known: return token(keys)
        case .unknown: throw CTAPError(0x3F)
        case .blocked: throw CTAPError(0x3C)
        }
      default: throw CTAPError(0x33)
      }
    }

    private mutating func check(pin: consuming SecretBytes) throws {
      guard memory.pinTries > 0 else { throw CTAPError(0x32) }
      guard wrongInARow < 3 else { throw CTAPError(0x34) }
      memory.pinTries -= 1
      let isRight = pin.withBytes { [UInt8](copying: $0) } == memory.pinHash
      guard isRight else {
        agreement = P256PrivateKeyBox()
        wrongInARow += 1
        if memory.pinTries == 0 { throw CTAPError(0x32) }
        throw CTAPError(wrongInARow == 3 ? 0x34 : 0x31)
      }
      memory.pinTries = 8
      wrongInARow = 0
    }

    private func token(_ keys: AgreedKeys) -> CBOR {
      .map([(.number(2), .bytes(keys.encrypt(SecretBytes(copying: token.rawSpan))))])
    }

    private func agreed(_ version: Int, _ peer: CBOR?) throws -> AgreedKeys {
      guard let peer, let keys = agreement.agree(version, with: peer) else { throw CTAPError(0x02) }
      return keys
    }

    /// Whether the message has a code under the token.
    private func isVerified(_ challenge: CBOR?, _ code: CBOR?, _ version: CBOR?) throws -> Bool {
      guard let code = code?.bytes else { return false }
      guard let challenge = challenge?.bytes, let version = version?.number,
        AgreedKeys.code(version, token, challenge) == code
      else { throw CTAPError(0x33) }
      return true
    }

    // MARK: authenticatorMakeCredential (section 6.1)

    private mutating func makeCredential(_ arguments: CBOR) throws -> CBOR {
      guard let challenge = arguments[1]?.bytes, let party = arguments[2]?["id"]?.text else {
        throw CTAPError(0x14)
      }
      guard try isVerified(arguments[1], arguments[8], arguments[9]) else { throw CTAPError(0x36) }
      for excluded in arguments[5]?.array ?? [] where credential(excluded, of: party) != nil {
        throw CTAPError(0x19)
      }
      let key = P256PrivateKey()
      let made = AuthenticatorMemory.Credential(
        id: SystemRandom.publicBytes(count: 48), relyingParty: party,
        scalar: key.scalar().withBytes { [UInt8](copying: $0) }, point: key.publicKey,
        secretWithVerification: SystemRandom.publicBytes(count: 32),
        secretWithout: SystemRandom.publicBytes(count: 32))
      memory.credentials.append(made)
      var granted: [(CBOR, CBOR)] = []
      if let level = arguments[6]?["credProtect"] { granted.append((.text("credProtect"), level)) }
      if arguments[6]?["hmac-secret"]?.isTrue == true { granted.append((.text("hmac-secret"), .bool(true))) }
      var data = header(party, isVerified: true, flags: 0x40, extensions: granted)
      data += Self.model + [0, UInt8(made.id.count)] + made.id
      data += Self.cose(key.publicKey, algorithm: -7).encoded
      if !granted.isEmpty { data += CBOR.map(granted).encoded }
      let signature = try key.signature(digest: SHA256.hash((data + challenge).rawSpan))
      return .map([
        (.number(1), .text("packed")), (.number(2), .bytes(data)),
        (.number(3), .map([(.text("alg"), .number(-7)), (.text("sig"), .bytes(signature))])),
      ])
    }

    // MARK: authenticatorGetAssertion (section 6.2)

    private mutating func getAssertion(_ arguments: CBOR) throws -> CBOR {
      guard let party = arguments[1]?.text, let challenge = arguments[2]?.bytes else { throw CTAPError(0x14) }
      let isVerified = try isVerified(arguments[2], arguments[6], arguments[7])
      let allowed = (arguments[3]?.array ?? []).compactMap { credential($0, of: party) }
      guard let found = allowed.first else { throw CTAPError(0x2E) }
      var granted: [(CBOR, CBOR)] = []
      if let wish = arguments[4]?["hmac-secret"] {
        granted.append((.text("hmac-secret"), .bytes(try secret(wish, found, isVerified))))
      }
      memory.counter += 1
      var data = header(
        party, isVerified: isVerified && !behaviour.hidesVerification, flags: 0, extensions: granted)
      if !granted.isEmpty { data += CBOR.map(granted).encoded }
      let key = try P256PrivateKey(
        scalar: SecretBytes(copying: found.scalar.rawSpan), publicKey: found.point)
      var signature = try key.signature(digest: SHA256.hash((data + challenge).rawSpan))
      if behaviour.signsWrongly { signature = try key.signature(digest: SHA256.hash(challenge.rawSpan)) }
      return .map([
        (.number(1), .map([(.text("id"), .bytes(found.id)), (.text("type"), .text("public-key"))])),
        (.number(2), .bytes(data)), (.number(3), .bytes(signature)),
      ])
    }

    /// The extension hmac-secret (section 12.5).
    private mutating func secret(
      _ wish: CBOR, _ credential: AuthenticatorMemory.Credential, _ isVerified: Bool
    ) throws -> [UInt8] {
      let keys = try agreed(wish[4]?.number ?? 1, wish[1])
      guard let sealed = wish[2]?.bytes, let code = wish[3]?.bytes, keys.code(of: sealed) == code else {
        throw CTAPError(0x33)
      }
      let salt = keys.decrypt(sealed)
      var own = isVerified ? credential.secretWithVerification : credential.secretWithout
      if behaviour.forgetsSecrets { own = SystemRandom.publicBytes(count: 32) }
      var hmac = HMACSHA256()
      let output = SecretBytes(byteCount: 32) { output in
        salt.withBytes { hmac.authenticate($0, key: own.rawSpan, into: &output) }
      }
      return keys.encrypt(output)
    }

    // MARK: Parts

    private func credential(_ descriptor: CBOR, of party: String) -> AuthenticatorMemory.Credential? {
      memory.credentials.first { $0.id == descriptor["id"]?.bytes && $0.relyingParty == party }
    }

    /// Authenticator data without what is attested (Web Authentication, section 6.1).
    private func header(
      _ party: String, isVerified: Bool, flags: UInt8, extensions: [(CBOR, CBOR)]
    ) -> [UInt8] {
      var bytes = SHA256.hash(Array(party.utf8).rawSpan)
      bytes.append(flags | 0x01 | (isVerified ? 0x04 : 0) | (extensions.isEmpty ? 0 : 0x80))
      bytes.append(bigEndian: UInt32(memory.counter))
      return bytes
    }

    private static func cose(_ point: [UInt8], algorithm: Int) -> CBOR {
      .map([
        (.number(1), .number(2)), (.number(3), .number(algorithm)), (.number(-1), .number(1)),
        (.number(-2), .bytes(Array(point[1..<33]))), (.number(-3), .bytes(Array(point[33...]))),
      ])
    }
  }

  /// A key of its own for each PIN that was right.
  private final class P256PrivateKeyBox {
    private let key = P256PrivateKey()
    var publicKey: [UInt8] { key.publicKey }
    func agree(_ version: Int, with peer: CBOR) -> AgreedKeys? {
      AgreedKeys(version: version, own: key, peer: peer)
    }
  }
#endif
