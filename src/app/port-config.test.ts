import { expect, test } from 'vitest'
import { freePorts } from '../../test/support/processes/free-ports.ts'
import { Env, loadConfig } from './config.ts'

/** Returns the ports in a configuration, with their paths. Parts without a port have none. */
const portsOf = (value: unknown, path = ''): [string, number][] =>
  typeof value === 'number' && /port$/i.test(path)
    ? [[path, value]]
    : typeof value === 'object' && value !== null
      ? Object.entries(value).flatMap(([key, inner]) => portsOf(inner, path && key ? `${path}.${key}` : key))
      : []

test('ports follow from PORT, so that a second platform needs only another one', () => {
  expect(Object.fromEntries(portsOf(loadConfig({ PORT: '4100' })))).toEqual({
    port: 4100,
    hubPort: 4101,
    gatewayPort: 4102,
    'media.port': 4104,
    'recorder.port': 4105,
  })
  expect(loadConfig({ PORT: '4100' }).gatewayUrl).toBe('ws://localhost:4102')
  expect(loadConfig({ PORT: '4100', GATEWAY_PORT: '9000' })).toMatchObject({
    hubPort: 4101,
    gatewayPort: 9000,
    gatewayUrl: 'ws://localhost:9000',
  })
})

test('ports that would be too high are refused, unless they are set', () => {
  expect(() => loadConfig({ PORT: '65532' })).toThrow(
    'PORT is too high: MEDIA_UDP_PORT would be 65536, RECORDER_PORT would be 65537.',
  )
  const own = { MEDIA_UDP_PORT: '4004', RECORDER_PORT: '4005' }
  expect(loadConfig({ PORT: '65532', ...own })).toMatchObject({ gatewayPort: 65_534 })
})

test.each([
  ['PORT=0', { PORT: '0' }],
  ['the environment of tests, also with another PORT', { ...freePorts, PORT: '4100' }],
])('ports are all free ones with %s', (_, env) => {
  const fixed = portsOf(loadConfig(env)).filter(([path, port]) => path !== 'port' && port !== 0)
  expect(fixed).toEqual([])
})

test('the ports of every setting are covered by the environment of tests', () => {
  const setsAPort = (name: string): boolean => {
    try {
      return portsOf(loadConfig({ [name]: '4711' })).some(([, port]) => port === 4711)
    } catch {
      return false // its values are no numbers
    }
  }
  const settings = Object.keys(Env.shape).filter(setsAPort)
  expect(settings.length).toBeGreaterThan(5)
  expect(Object.keys(freePorts)).toEqual(expect.arrayContaining(settings))
})
