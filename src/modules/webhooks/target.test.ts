import { describe, expect, test } from 'vitest'
import { createTargets, type Resolve } from './target.ts'
import { createAddressPolicy } from './target-address.ts'

const resolvesTo =
  (...addresses: string[]): Resolve =>
  async () =>
    addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }))

const publicAddresses = [
  '8.8.8.8',
  '1.1.1.1',
  '172.15.255.255',
  '172.32.0.1',
  '100.128.0.1',
  '2606:4700::1111',
  '::ffff:8.8.8.8',
]
const internalAddresses = [
  '127.0.0.1',
  '127.255.255.254',
  '0.0.0.0',
  '0.1.2.3',
  '10.0.0.1',
  '172.16.0.1',
  '172.31.255.255',
  '192.168.1.1',
  '169.254.169.254',
  '169.254.0.1',
  '100.64.0.1',
  '100.127.255.255',
  '100.100.100.200',
  '192.0.0.192',
  '192.0.2.1',
  '198.18.0.1',
  '198.51.100.1',
  '203.0.113.1',
  '192.88.99.1',
  '224.0.0.1',
  '239.255.255.255',
  '240.0.0.1',
  '255.255.255.255',
  '168.63.129.16',
  '::',
  '::1',
  'fe80::1',
  'fe80::1%eth0',
  'fc00::1',
  'fd00:ec2::254',
  'fec0::1',
  'ff02::1',
  '::ffff:127.0.0.1',
  '::ffff:10.0.0.1',
  '::ffff:169.254.169.254',
  '::127.0.0.1',
  '::ffff:0:127.0.0.1',
  '64:ff9b::7f00:1',
  '64:ff9b::a9fe:a9fe',
  '64:ff9b:1::7f00:1',
  '2002:7f00:1::',
  '2002:a9fe:a9fe::',
  '2001:0:7f00:1::',
  '2001:db8::1',
  '100::1',
  '2001:10::1',
  '3fff::1',
  '4000::1',
  'nonsense',
  '',
]

describe('an address', () => {
  const policy = createAddressPolicy([])
  test.each(publicAddresses)('%s is public', (address) => expect(policy.judge(address)).toBe('public'))
  test.each(internalAddresses)('%s is refused', (address) => expect(policy.judge(address)).toBe('refused'))
  test('in an allowed network is allowed in both notations; its neighbours are refused', () => {
    const some = createAddressPolicy(['10.1.0.0/16', 'fd00::/8'])
    expect(['10.1.2.3', '::ffff:10.1.2.3', 'fd12::1'].map(some.judge)).toEqual(Array(3).fill('allowed'))
    expect(['10.2.0.1', '127.0.0.1', 'fe80::1', '64:ff9b::a01:203'].map(some.judge)).toEqual(
      Array(4).fill('refused'),
    )
  })
})

describe('a URL', () => {
  const hidden = 'its host must have a name that resolves to public addresses only'
  const check = (url: string, resolve: Resolve, allowed: string[] = []) =>
    createTargets({ policy: createAddressPolicy(allowed), resolve }).check(url)

  test('is refused if one of its addresses is refused', async () => {
    await expect(check('https://a.example/', resolvesTo('8.8.8.8', '10.0.0.1'))).rejects.toThrow(hidden)
    await expect(check('https://a.example/', resolvesTo('8.8.8.8', '::1'))).rejects.toThrow(hidden)
    expect((await check('https://a.example/', resolvesTo('8.8.8.8', '1.1.1.1'))).addresses).toHaveLength(2)
  })

  test('gets the same message for an unknown name, a name without address and an internal name', async () => {
    const unknown: Resolve = async () => {
      throw Object.assign(new Error('queryA ENOTFOUND db.internal'), { code: 'ENOTFOUND' })
    }
    for (const resolve of [unknown, resolvesTo(), resolvesTo('10.0.0.7')]) {
      await expect(check('https://db.internal/', resolve)).rejects.toThrow(new Error(hidden))
    }
  })

  test.each([
    '127.0.0.1',
    '127.1',
    '0x7f000001',
    '2130706433',
    '017700000001',
    '[::1]',
    '[::ffff:7f00:1]',
    'localhost.',
  ])('to %s is recognized as this machine', async (host) => {
    const targets = createTargets({ policy: createAddressPolicy([]) })
    await expect(targets.check(`https://${host}/`)).rejects.toThrow(hidden)
  })

  test('to a public host requires https, and port 443 or an unprivileged port', async () => {
    const open = resolvesTo('8.8.8.8')
    await expect(check('http://a.example/', open)).rejects.toThrow('must begin with https://')
    await expect(check('http://a.example/', open, ['127.0.0.0/8'])).rejects.toThrow(
      'must begin with https://',
    )
    await expect(check('https://a.example:22/', open)).rejects.toThrow('port')
    for (const port of [443, 1024, 8443]) await check(`https://a.example:${port}/`, open)
    await check('http://10.0.0.1:80/', open, ['10.0.0.0/8'])
    for (const bad of [
      'https://u:p@a.example/',
      'https://u@a.example/',
      'https://a.example/#x',
      'javascript:1',
      'x',
    ]) {
      await expect(check(bad, open), bad).rejects.toThrow()
    }
  })
})
