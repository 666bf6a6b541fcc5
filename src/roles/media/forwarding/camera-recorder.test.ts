import { rtp } from '@wheelhouse/protocol'
import { expect, test } from 'vitest'
import { CameraRecorder } from './camera-recorder.ts'
import type { IncomingStream } from './incoming-stream.ts'

test('the times of recorded frames never run backwards', () => {
  // The estimate of the clock gets better, is unknown, and jumps.
  const captures: (number | undefined)[] = [900, 934, 700, undefined, 1_005, 1_100]
  const details: number[] = []
  const recorder = new CameraRecorder(
    'front',
    { sessionId: 'a', stored: true },
    {
      sender: {
        open: () => ({
          write: ({ detail }: { detail: number }) => details.push(detail),
          gap() {},
          close() {},
        }),
      } as never,
      nowMs: () => 1_000,
      schedule: () => undefined,
      requestKeyframe: () => undefined,
    },
  )
  const stream = { captureMsOf: (timestamp: number) => captures[timestamp] } as unknown as IncomingStream
  for (const timestamp of captures.keys()) {
    const plain = Buffer.alloc(rtp.RTP_HEADER_BYTES + 4)
    plain[rtp.RTP_HEADER_BYTES] = 0x10 // the beginning of a keyframe of VP8
    const header = {
      payloadType: 96,
      marker: true,
      sequenceNumber: timestamp,
      timestamp,
      ssrc: 5,
      payloadStart: 12,
      payloadEnd: 16,
    }
    recorder.receive({ kind: 'video', stream, header, plain, isStart: true }, 'VP8', 1_000 + timestamp * 33)
  }
  recorder.work()
  // Readers take the time of arrival, 1,099, for the frame without one.
  expect(details).toEqual([900, 934, 934, Number.NaN, 1_099, 1_100])
})
