import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Wheelhouse } from '../../support/processes/processes.ts'
import {
  createSplitPlatform,
  driveRecorded,
  expectComplete,
  type SplitPlatform,
} from '../../support/recordings/recorded-drive.ts'
import { waitFor } from '../../support/world/wait.ts'

const KILLS = 4
/** Large enough for segments of a megabyte. */
const PADDING = 4_096

let platform: SplitPlatform

beforeAll(async () => {
  platform = await createSplitPlatform({ roles: 'api,hub' })
})
afterAll(() => platform?.[Symbol.asyncDispose]())

async function started(roles: string): Promise<Wheelhouse & { gatewayUrl: string }> {
  const node = platform.start(roles)
  const { gatewayUrl } = await node.serving()
  return Object.assign(node, { gatewayUrl })
}

test('kill -9 of the recorder: unacknowledged records are sent again, and none is lost or duplicated', async () => {
  await using _worker = await started('worker')
  await using gateway = await started('gateway')
  const recorders = [await started('recorder'), await started('recorder')]
  const session = await driveRecorded(platform, gateway.gatewayUrl)
  let acknowledged = 0
  for (let kill = 0; kill < KILLS; kill++) {
    await session.obeyed(100)
    acknowledged = Math.max(acknowledged, await session.acknowledgedMs())
    await recorders[kill % 2]!.end('SIGKILL')
    recorders[kill % 2] = await started('recorder')
  }
  await session.end()
  const { recording, mcap } = await session.finished()
  expect(expectComplete(mcap, recording.gaps, session, acknowledged)).toBe(0)
  for (const recorder of recorders) await recorder.end('SIGKILL')
})

test('kill -9 of the gateway: the recording continues at the next gateway, and lists the gap', async () => {
  await using _worker = await started('worker')
  await using _recorder = await started('recorder')
  const first = await started('gateway')
  await using second = await started('gateway')
  const session = await driveRecorded(platform, first.gatewayUrl)
  await session.obeyed(300)
  const acknowledged = await session.acknowledgedMs()
  await first.end('SIGKILL')
  await session.reconnectTo(second.gatewayUrl)
  await session.obeyed(200)
  await session.end()
  const { recording, mcap } = await session.finished()
  const missing = expectComplete(mcap, recording.gaps, session, acknowledged)
  expect(missing, 'a gateway sends its records at once, and not only when a segment is full').toBeLessThan(
    150,
  )
  // On a busy machine, the row of the recorder may expire before it notes the loss of its source: its streams then end as those of a
  // lost recorder, and it cannot store the rest any more.
  expect(recording.gaps).toEqual([
    expect.objectContaining({ reason: expect.stringMatching(/^(source|recorder)_lost$/) }),
  ])
})

test('kill -9 of the gateway and the recorder at once: the recording lists the gap', async () => {
  await using _worker = await started('worker')
  const recorder = await started('recorder')
  const first = await started('gateway')
  await using second = await started('gateway')
  const session = await driveRecorded(platform, first.gatewayUrl)
  await waitFor(async () => expect(await session.acknowledgedMs()).toBeGreaterThan(0))
  await session.obeyed(100)
  const acknowledged = await session.acknowledgedMs()
  await recorder.end('SIGKILL')
  await first.end('SIGKILL')
  await using _next = await started('recorder')
  await session.reconnectTo(second.gatewayUrl)
  await session.obeyed(200)
  await session.end()
  const { recording, mcap } = await session.finished()
  expect(expectComplete(mcap, recording.gaps, session, acknowledged)).toBeGreaterThan(0)
  expect(recording.gaps.map(({ reason }: { reason: string }) => reason)).toEqual(['recorder_lost'])
})

test('kill -9 of the worker while it finishes a recording: the recording is finished once, and no object is left over', async () => {
  await using gateway = await started('gateway')
  await using _recorder = await started('recorder')
  const worker = await started('worker')
  const session = await driveRecorded(platform, gateway.gatewayUrl, { padding: PADDING })
  await session.obeyed(500)
  await session.end()
  const id = await waitFor(async () => {
    const [row] = await platform.query(`select id from recordings where session_id = '${session.sessionId}'
      and status in ('FINISHING', 'READY')`)
    return row.id as string
  })
  await worker.end('SIGKILL')
  await using _next = await started('worker')
  const { recording, mcap } = await session.finished()
  expect(expectComplete(mcap, recording.gaps, session, Date.now())).toBe(0)
  const directory = join(platform.dataDir, 'objects', 'recordings', id)
  await waitFor(async () => {
    const files = await readdir(directory, { recursive: true, withFileTypes: true })
    expect(files.filter((file) => file.isFile()).map(({ name }) => name)).toEqual([
      expect.stringMatching(/^recording-/),
    ])
  })
  expect(await platform.query(`select number from recording_segments where recording_id = '${id}'`)).toEqual(
    [],
  )
})
