// SPDX-License-Identifier: Apache-2.0
//
// `coffer mode` with a fingerprint reader, as fprintd has it on a bus of its own.

#if Fingerprint
  import DesktopBus
  import Foundation
  import PrivateBus
  import Testing

  @Suite(
    "The mode of private keys", .enabled(if: PrivateBus.isAvailable, "dbus and python-dbusmock are needed"))
  struct ModeOnReaderTests {
    /// A bus with a reader whose fingers are laid out.
    private func reader(_ results: [String]) throws -> PrivateBus {
      let bus = try PrivateBus()
      try bus.startMock(.fprintd)
      let device = try bus.control(.fprintd, "AddDevice", [.string("Reader"), .string("press")]).value(0)
        .objectPath()
      let fingers: [BusValue] = [.string(""), .strings(["right-index-finger"])]
      _ = try bus.control(.fprintd, "SetEnrolledFingers", fingers, path: device)
      _ = try bus.control(.fprintd, "SetVerifyScript", [.strings(results)], path: device)
      return bus
    }

    @Test("A finger brings the keys under high security, and back; another one does not")
    func thereAndBack() throws {
      let place = try Place()
      try place.makeCoffer()
      let pass = ["--passphrase-file", place.folder.path() + "/pass"]
      let bus = try reader([
        "verify-no-match", "verify-no-match", "verify-no-match", "verify-match", "verify-match",
      ])
      let environment = ["DBUS_SYSTEM_BUS_ADDRESS": bus.address]
      let refused = try place.run(["mode", "high-security"] + pass, environment: environment)
      #expect(refused.status == 4, "\(refused)")
      #expect(refused.error.contains("nobody was recognised"))
      let over = try place.run(["mode", "high-security"] + pass, environment: environment)
      #expect(over.status == 0, "\(over)")
      #expect(over.output == "high-security\n")
      #expect(try place.run(["mode"] + pass).output == "high-security\n")
      let back = try place.run(["mode", "standard", "--json"] + pass, environment: environment)
      #expect(back.output == "{\"keys\":0,\"mode\":\"standard\"}\n")
      #expect(try place.run(["mode", "standard"] + pass).error.contains("That is the mode already."))
    }
  }
#endif
