import Testing
@testable import Secrets
@Test func a() { let s = SecretBytes(zeroed: 4); #expect(s.count == 4) }
