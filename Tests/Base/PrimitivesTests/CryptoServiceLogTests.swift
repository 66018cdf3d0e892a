// SPDX-License-Identifier: Apache-2.0

import Foundation
import LoggedLines
import Primitives
import Secrets
import Testing

@Suite("Log lines of the crypto service")
struct CryptoServiceLogTests {
  @Test("Sizes are logged for debugging, errors with their fixed text, and never contents")
  func lines() async {
    await #expect(processExitsWith: .success) {
      LoggedLines.keep()
      let key = CryptoService.generateKey()
      let sealed = try CryptoService.encrypt(Data("some content".utf8), using: key)
      _ = try CryptoService.decrypt(sealed, using: key)
      do { _ = try CryptoService.decrypt(sealed, using: CryptoService.generateKey()) } catch {}
      do { _ = try CryptoService.decrypt(Data(count: 27), using: key) } catch {}
      do { _ = try CryptoService.keyFromData(Data(count: 16)) } catch {}
      do { _ = try CryptoService.sha256Stream(url: URL(filePath: "/nonexistent/some-name")) } catch {}
      let expected = [
        "debug app.rial.crypto encrypt byteCount=12",
        "debug app.rial.crypto decrypt byteCount=40",
        "debug app.rial.crypto decrypt byteCount=40",
        "error app.rial.crypto decrypt failed error=Authentication failed - data may be corrupted or tampered",
        "debug app.rial.crypto decrypt byteCount=27",
        "error app.rial.crypto decrypt failed error=Failed to decrypt data",
        "error app.rial.crypto keyFromData failed error=Invalid encryption key",
        "error app.rial.crypto sha256Stream failed error=File not found",
      ]
      guard LoggedLines.all == expected else {
        print(LoggedLines.all)
        exit(4)
      }
    }
  }
}
