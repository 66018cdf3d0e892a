// SPDX-License-Identifier: Apache-2.0
//
// A security key in software behind libfido2's own hooks, so that the unmodified libfido2 is under test: `rx` and `tx`
// carry whole CTAP messages, without HID's frames.

#if SecurityKeys
  import CFido2
  import CFidoHooks
  import Foundation
  import Primitives
  import Secrets
  import SecurityKeys
  import Synchronization

  /// A security key that does as it is told.
  ///
  /// Sendable: all state is behind the condition's lock.
  public final class SoftwareSecurityKey: @unchecked Sendable {
    /// What the key and its user do.
    public struct Behaviour: Sendable {
      public enum Touch: Sendable {
        case comes
        /// The key gives up, as keys do after half a minute.
        case timesOut
        /// Nothing happens until the other side gives up, or cancels.
        case never
        /// The key is taken out while it waits.
        case unplugged
      }
      public enum Finger: Sendable { case known, unknown, blocked }

      public var touch = Touch.comes
      public var finger = Finger.known
      public var hasReader = false
      public var hasSecrets = true
      public var protectsCredentials = true
      /// Of PIN/UV auth, the preferred one first.
      public var protocols = [2, 1]
      /// A key that lies: another secret each time, no flag *user verified*, a wrong signature.
      public var forgetsSecrets = false
      public var hidesVerification = false
      public var signsWrongly = false
      public init() {}
    }

    private let condition = NSCondition()
    private var authenticator: Authenticator
    private var reply: [UInt8] = []
    private var waits = false
    private var isCancelled = false
    private var isPlugged = true
    private let path: String
    /// Called after each message, with what the key keeps.
    private let save: @Sendable (AuthenticatorMemory) -> Void

    /// A new key.
    /// - Parameter pin: nil for one without a PIN.
    public convenience init(pin: String? = "864201") {
      self.init(AuthenticatorMemory(pin: pin))
    }

    /// A new key whose PIN is never in the clear outside of locked memory.
    public convenience init(pin: SharedSecretBytes) {
      var memory = AuthenticatorMemory()
      memory.pinHash = pin.withBytes { Array(SHA256.hash($0).prefix(16)) }
      self.init(memory)
    }

    /// A key that was there before.
    public init(
      _ memory: AuthenticatorMemory, save: @escaping @Sendable (AuthenticatorMemory) -> Void = { _ in }
    ) {
      authenticator = Authenticator(memory, Behaviour())
      self.save = save
      path = Self.registry.withLock { registry in
        registry.append(WeakKey())
        return "\(registry.count - 1)"
      }
      Self.registry.withLock { $0[Int(path)!].key = self }
    }

    private struct WeakKey: @unchecked Sendable { weak var key: SoftwareSecurityKey? }
    private static let registry = Mutex<[WeakKey]>([])

    public var behaviour: Behaviour {
      get { locked { authenticator.behaviour } }
      set { locked { authenticator.behaviour = newValue } }
    }

    public var pinTriesLeft: Int { locked { authenticator.memory.pinTries } }

    /// Returns once a call waits for a touch.
    public func awaitTouchRequest() {
      locked { while !waits { condition.wait() } }
    }

    public func takeOut() {
      locked {
        isPlugged = false
        condition.broadcast()
      }
    }

    /// Also a new start: a key forgets its tokens and what was wrong in a row.
    public func plugIn() {
      locked {
        isPlugged = true
        authenticator = Authenticator(authenticator.memory, authenticator.behaviour)
      }
    }

    /// As Coffer sees it: through libfido2.
    /// - Parameter wait: how long libfido2 waits for a touch.
    public func device(wait: Duration = .seconds(600)) -> FidoSecurityKey {
      FidoSecurityKey(product: "Software key", wait: wait) { [self] device in
        var calls = fido_dev_io_t(
          open: { SoftwareSecurityKey.open($0) }, close: { _ in }, read: { _, _, _, _ in -1 },
          write: { _, _, _ in -1 })
        var transport = fido_dev_transport_t(
          rx: { SoftwareSecurityKey.of($0)?.receive($2, $3, milliseconds: $4) ?? -1 },
          tx: { SoftwareSecurityKey.of($0)?.transmit($1, $2, $3) ?? -1 })
        guard let fido2 = coffer_fido2_open()?.pointee, let hooks = coffer_fido_hooks_open()?.pointee else {
          return FIDO_ERR_INTERNAL
        }
        let code = hooks.fido_dev_set_io_functions(device, &calls)
        guard code == FIDO_OK else { return code }
        let other = hooks.fido_dev_set_transport_functions(device, &transport)
        return other == FIDO_OK ? fido2.fido_dev_open(device, path) : other
      }
    }

    // MARK: The hooks

    private static func open(_ path: UnsafePointer<CChar>?) -> UnsafeMutableRawPointer? {
      guard let path, let index = Int(String(cString: path)) else { return nil }
      let key = registry.withLock { $0[index].key }
      guard let key, key.locked({ key.isPlugged }) else { return nil }
      return Unmanaged.passUnretained(key).toOpaque()
    }

    private static func of(_ device: OpaquePointer?) -> SoftwareSecurityKey? {
      coffer_fido_hooks_open()?.pointee.fido_dev_io_handle(device).map {
        Unmanaged<SoftwareSecurityKey>.fromOpaque($0).takeUnretainedValue()
      }
    }

    private func transmit(_ command: UInt8, _ start: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
      locked {
        guard isPlugged else { return -1 }
        let message = Array(UnsafeBufferPointer(start: start, count: count))
        switch Int32(command) {
        case CTAP_CMD_INIT:
          // nonce, channel, then protocol, version 1.0.0 and what the key can: CBOR, and no U2F
          reply = message + [1, 0, 0, 0, 2, 1, 0, 0, 0x04 | 0x08]
        case CTAP_CMD_CANCEL:
          isCancelled = true
          condition.broadcast()
        case CTAP_CMD_CBOR:
          isCancelled = false
          waits = Authenticator.waitsForTouch(message)
          if !waits || authenticator.behaviour.touch == .comes {
            reply = authenticator.answer(message)
            save(authenticator.memory)
            waits = false
          }
        default: reply = []
        }
        return Int32(count)
      }
    }

    private func receive(
      _ target: UnsafeMutablePointer<UInt8>?, _ limit: Int, milliseconds: Int32
    ) -> Int32 {
      locked {
        if waits {
          condition.broadcast()
          reply = untouched(milliseconds)
          waits = false
        }
        guard isPlugged, !reply.isEmpty, reply.count <= limit, let target else { return -1 }
        target.update(from: reply, count: reply.count)
        defer { reply = [] }
        return Int32(reply.count)
      }
    }

    /// The reply of a key that nobody touches; empty for none.
    private func untouched(_ milliseconds: Int32) -> [UInt8] {
      switch authenticator.behaviour.touch {
      case .comes: return []
      case .timesOut: return [0x2F]
      case .unplugged:
        isPlugged = false
        return []
      case .never:
        // A millisecond later, so that rounding does not make the wait shorter than the caller measures.
        let end = Date(timeIntervalSinceNow: milliseconds < 0 ? 3_600 : Double(milliseconds) / 1_000 + 0.001)
        while !isCancelled, isPlugged, condition.wait(until: end) {}
        return isCancelled ? [0x2D] : []
      }
    }

    private func locked<R>(_ body: () -> R) -> R {
      condition.lock()
      defer { condition.unlock() }
      return body()
    }
  }

  /// The keys that are plugged in.
  public final class SoftwareSecurityKeys: SecurityKeyFinder {
    private let list: Mutex<[SoftwareSecurityKey]>
    private let wait: Duration

    public init(_ keys: [SoftwareSecurityKey] = [], wait: Duration = .seconds(600)) {
      list = Mutex(keys)
      self.wait = wait
    }

    public var plugged: [SoftwareSecurityKey] {
      get { list.withLock { $0 } }
      set { list.withLock { $0 = newValue } }
    }

    public func keys() throws(SecurityKeyError) -> [any SecurityKey] {
      list.withLock { $0 }.map { $0.device(wait: wait) }
    }
  }
#endif
