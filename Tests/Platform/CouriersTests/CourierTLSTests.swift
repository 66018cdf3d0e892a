// SPDX-License-Identifier: Apache-2.0

import Couriers
import Foundation
import Remotes
import S3Server
import Secrets
import Testing

@Suite("Whom the courier trusts", .timeLimit(.minutes(60)))
struct CourierTLSTests {
  private func remote(_ server: TLSServer, host: String = "127.0.0.1", pin: String?) throws -> CourierRemote {
    try courierRemote(
      S3Place(
        host: host, port: server.port, bucket: "coffer", accessKey: "AK",
        secretKey: SharedSecretBytes(SecretBytes(copying: [1, 2, 3].span.bytes)), pin: pin))
  }

  @Test("The pinned key is trusted, whatever the certificate says")
  func pinned() throws {
    let server = try TLSServer()
    for host in ["127.0.0.1", "localhost"] {
      #expect(try remote(server, host: host, pin: server.pin).get("account/a") == Array("hi".utf8))
    }
  }

  @Test("Another key than the pinned one is not, and is asked nothing")
  func otherPin() throws {
    let (server, other) = (try TLSServer(), try TLSServer())
    let remote = try remote(server, pin: other.pin)
    #expect(throws: RemoteError.untrusted) { try remote.get("account/a") }
    #expect(throws: RemoteError.untrusted) { try remote.put("account/a", [1]) }
  }

  @Test("Without a pin, a certificate that no authority vouches for is not trusted")
  func unknownAuthority() throws {
    let server = try TLSServer()
    #expect(throws: RemoteError.untrusted) { try remote(server, pin: nil).get("account/a") }
  }

  @Test("A server without TLS is not spoken to")
  func withoutTLS() throws {
    let server = try S3Server()
    let place = try S3Place(
      host: "127.0.0.1", port: server.port, bucket: "coffer", accessKey: "AK",
      secretKey: SharedSecretBytes(SecretBytes(copying: [1, 2, 3].span.bytes)))
    let remote = try courierRemote(place, stallSeconds: 1)
    #expect(throws: RemoteError.self) { try remote.get("account/a") }
    #expect(server.requests == [])
  }
}

@Suite("How fast the courier is", .serialized)
struct CourierLimitTests {
  @Test("Limits of speed hold, in each direction")
  func limits() throws {
    let server = try S3Server()
    let bytes = [UInt8](repeating: 3, count: 8 << 20)
    for isUp in [true, false] {
      var limits = CourierRemote.Limits()
      if isUp { limits.bytesPerSecondUp = 4 << 20 } else { limits.bytesPerSecondDown = 4 << 20 }
      let remote = try courierRemote(server.place(), limits: limits)
      let putting = try ContinuousClock().measure { try remote.put("account/a", bytes) }
      var read: [UInt8]?
      let getting = try ContinuousClock().measure { read = try remote.get("account/a") }
      #expect(read == bytes)
      // At 4 MiB a second, 8 MiB take 2 s; libcurl lets what fits into its buffers and the system's pass at once.
      let limited = isUp ? putting : getting
      #expect(limited > .milliseconds(400), "up \(putting), down \(getting)")
    }
  }
}
