import { expect, test } from 'vitest'
import { FLAG_BINARY, sampleKinds } from '../../modules/recordings/transport/sample-wire.ts'
import { encodeSample } from './sample-encoder.ts'

const source = { source: 'gateway', codec: undefined }
const sample = { stream: 1, kind: sampleKinds.telemetry, note: '', atMs: 1_000, payload: Buffer.from('{}') }

test.each([
  ['text', 0],
  ['binary', FLAG_BINARY],
])('a %s sample with an age is published when the robot made it, others when they arrive', (_kind, flags) => {
  const times = (detail: number) => {
    const message = encodeSample({ ...sample, flags, detail }, source)
    return [message?.logTimeNs, message?.publishTimeNs]
  }
  expect(times(12.5)).toEqual([1_000_000_000n, 987_500_000n])
  expect(times(Number.NaN)).toEqual([1_000_000_000n, 1_000_000_000n])
})
