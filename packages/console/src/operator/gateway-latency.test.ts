import { expect, test } from 'vitest'
import { probeUrl, summaryOf } from './queries.ts'

test('a summary has the middle and the slowest round trip', () => {
  expect(summaryOf([30, 10, 20, 200, 15])).toEqual({ medianMs: 20, slowestMs: 200 })
})

test('the probe uses the protocol of the page behind a WebSocket origin', () => {
  expect(probeUrl('wss://gateway.example.com')).toBe('https://gateway.example.com/livez')
  expect(probeUrl('ws://localhost:3002')).toBe('http://localhost:3002/livez')
})
