// SPDX-License-Identifier: Apache-2.0
//
// fprintd for tests: a template for python-dbusmock, which brings none. Written after fprintd's published
// interface descriptions (net.reactivated.Fprint.Manager and .Device).

/// The template's text. Controlled through `org.freedesktop.DBus.Mock`:
/// - on the manager: `AddDevice(s name, s scan-type) -> o`. There is no device at first.
/// - on a device: `SetEnrolledFingers(s user, as fingers)`; `SetVerifyScript(as results)`: what the next scans
///   give, such as `verify-retry-scan`, `verify-match`. Each `VerifyStart` emits results up to and with the
///   next final one; with none left it stays silent. `EmitVerifyStatus(s result, b done)`: one by hand.
///   `SetRefusal(s error)`: the last part of the error's name that `Claim` answers, empty for none.
///   `IsClaimed() -> b`, `IsVerifying() -> b`.
public enum FprintdTemplate {
  public static let text = #"""
    # SPDX-License-Identifier: Apache-2.0
    import dbus
    from gi.repository import GLib
    from dbusmock import MOCK_IFACE, mockobject

    BUS_NAME = 'net.reactivated.Fprint'
    MAIN_OBJ = '/net/reactivated/Fprint/Manager'
    MAIN_IFACE = 'net.reactivated.Fprint.Manager'
    DEVICE_IFACE = 'net.reactivated.Fprint.Device'
    SYSTEM_BUS = True
    FINAL = ('verify-match', 'verify-no-match', 'verify-disconnected', 'verify-unknown-error')


    def load(mock, parameters):
        mock.devices = []


    def failure(name):
        return dbus.exceptions.DBusException('refused', name='net.reactivated.Fprint.Error.' + name)


    def own(device, sender):
        if device.claimant != sender:
            raise failure('AlreadyInUse' if device.claimant else 'ClaimDevice')


    def status(device, result, done):
        device.EmitSignal(DEVICE_IFACE, 'VerifyStatus', 'sb', [result, done])
        return False


    @dbus.service.method(MOCK_IFACE, in_signature='ss', out_signature='o')
    def AddDevice(self, name, scan_type):
        path = f'/net/reactivated/Fprint/Device/{len(self.devices)}'
        self.AddObject(path, DEVICE_IFACE, {
            'name': name, 'scan-type': scan_type, 'num-enroll-stages': dbus.Int32(5),
            'finger-present': False, 'finger-needed': False}, [])
        device = mockobject.objects[path]
        device.claimant, device.user, device.verifying = None, None, False
        device.fingers, device.script, device.refusal = {}, [], ''
        self.devices.append(path)
        return path


    @dbus.service.method(MAIN_IFACE, in_signature='', out_signature='ao')
    def GetDevices(self):
        return dbus.Array(self.devices, signature='o')


    @dbus.service.method(MAIN_IFACE, in_signature='', out_signature='o')
    def GetDefaultDevice(self):
        if not self.devices:
            raise failure('NoSuchDevice')
        return self.devices[0]


    @dbus.service.method(MOCK_IFACE, in_signature='sas', out_signature='')
    def SetEnrolledFingers(self, user, fingers):
        self.fingers[str(user)] = [str(finger) for finger in fingers]


    @dbus.service.method(MOCK_IFACE, in_signature='as', out_signature='')
    def SetVerifyScript(self, results):
        self.script = [str(result) for result in results]


    @dbus.service.method(MOCK_IFACE, in_signature='s', out_signature='')
    def SetRefusal(self, error):
        self.refusal = str(error)


    @dbus.service.method(MOCK_IFACE, in_signature='sb', out_signature='')
    def EmitVerifyStatus(self, result, done):
        status(self, result, done)


    @dbus.service.method(MOCK_IFACE, in_signature='', out_signature='b')
    def IsClaimed(self):
        return self.claimant is not None


    @dbus.service.method(MOCK_IFACE, in_signature='', out_signature='b')
    def IsVerifying(self):
        return self.verifying


    @dbus.service.method(DEVICE_IFACE, in_signature='s', out_signature='as', sender_keyword='sender')
    def ListEnrolledFingers(self, user, sender=None):
        fingers = self.fingers.get(str(user), [])
        if not fingers:
            raise failure('NoEnrolledPrints')
        return dbus.Array(fingers, signature='s')


    @dbus.service.method(DEVICE_IFACE, in_signature='s', out_signature='', sender_keyword='sender')
    def Claim(self, user, sender=None):
        if self.refusal:
            raise failure(self.refusal)
        if self.claimant:
            raise failure('AlreadyInUse')
        self.claimant, self.user = sender, str(user)

        # As fprintd does: who leaves the bus, leaves the reader.
        def changed(owner):
            if not owner and self.claimant == sender:
                self.claimant, self.user, self.verifying = None, None, False
        self.connection.watch_name_owner(sender, changed)


    @dbus.service.method(DEVICE_IFACE, in_signature='', out_signature='', sender_keyword='sender')
    def Release(self, sender=None):
        own(self, sender)
        self.claimant, self.user, self.verifying = None, None, False


    @dbus.service.method(DEVICE_IFACE, in_signature='s', out_signature='', sender_keyword='sender')
    def VerifyStart(self, finger, sender=None):
        own(self, sender)
        if self.verifying:
            raise failure('AlreadyInUse')
        if not self.fingers.get(self.user):
            raise failure('NoEnrolledPrints')
        self.verifying = True
        self.EmitSignal(DEVICE_IFACE, 'VerifyFingerSelected', 's', [finger])
        while self.script:
            result = self.script.pop(0)
            GLib.idle_add(status, self, result, result in FINAL)
            if result in FINAL:
                break


    @dbus.service.method(DEVICE_IFACE, in_signature='', out_signature='', sender_keyword='sender')
    def VerifyStop(self, sender=None):
        own(self, sender)
        if not self.verifying:
            raise failure('NoActionInProgress')
        self.verifying = False
    """#
}
