// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import CofferCommands

@Suite("The row of a progress bar")
struct ProgressBarTests {
  private func row(_ done: Int, of total: Int?, columns: Int) -> String {
    ProgressBar.row("importing", done, of: total, seconds: 10, columnCount: columns, amount: ByteCount.text)
  }

  @Test("It has the share, the amount, the speed and the time left")
  func parts() {
    #expect(
      row(200_000_000, of: 800_000_000, columns: 80)
        == "importing [\(String(repeating: "█", count: 7))\(String(repeating: "·", count: 23))] 25 % 200.0 MB, 20.0 MB/s, 30 s left"
    )
    #expect(row(200_000_000, of: nil, columns: 80) == "importing 200.0 MB, 20.0 MB/s")
    #expect(row(0, of: 0, columns: 80) == "importing 0 bytes, 0 bytes/s")
  }

  @Test("It never reaches the last column", arguments: [24, 30, 40, 60, 80, 200])
  func narrow(columns: Int) {
    for done in [0, 1, 399, 400_000_000, 800_000_000] {
      #expect(row(done, of: 800_000_000, columns: columns).count < max(columns, 30))
    }
    #expect(row(200_000_000, of: 800_000_000, columns: 40) == "importing 25 % 200.0 MB, 20.0 MB/s")
  }

  @Test("While a service does not answer, it says for how long; what was done goes first where not all fits")
  func waiting() {
    func text(_ amount: String?, _ columns: Int) -> String {
      ProgressBar.waiting("syncing", amount, seconds: 42, columnCount: columns)
    }
    #expect(text("13.1 MB", 80) == "syncing, 13.1 MB, waiting for the place, 42 s")
    #expect(text(nil, 80) == "syncing, waiting for the place, 42 s")
    #expect(text("13.1 MB", 40) == "syncing, waiting for the place, 42 s")
    #expect(text("13.1 MB", 20).count == 19)
  }
}
