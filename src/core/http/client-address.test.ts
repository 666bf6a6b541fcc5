import { expect, test } from 'vitest'
import { networkOf } from './client-address.ts'

test.each([
  ['192.0.2.7', '192.0.2.7'],
  ['192.0.2.7:4711', '192.0.2.7'],
  ['::ffff:192.0.2.7', '192.0.2.7'],
  ['::ffff:c000:207', '192.0.2.7'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:0DB8:0001:0002::1', '2001:db8:1:2::/64'],
  ['[2001:db8:1:2::9]:4711', '2001:db8:1:2::/64'],
  ['2001:db8::1', '2001:db8:0:0::/64'],
  ['2001:db8::', '2001:db8:0:0::/64'],
  ['::1', '0:0:0:0::/64'],
  ['64:ff9b::192.0.2.7', '64:ff9b:0:0::/64'],
  ['fe80::1%eth0', 'fe80:0:0:0::/64'],
  ['unknown', undefined],
  ['', undefined],
  ['1.2.3', undefined],
  ['0x7f.0.0.1', undefined],
  ['192.0.02.7', undefined],
  ['::ffff:192.0.02.7', undefined],
  ['2001:db8::12345', undefined],
])('the network of %j is %s', (text, network) => {
  expect(networkOf(text)).toBe(network)
})
