import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { openMcapFile } from '../../src/modules/recordings/mcap/mcap-writer.ts'
import { topicDefinition } from '../../src/modules/recordings/mcap/topics.ts'
import type { Environment } from '../chaos/checks/check.ts'
import { recordingsComplete } from '../chaos/checks/recordings.ts'
import { createEvidence } from '../chaos/evidence.ts'
import type { AcknowledgedSegment } from '../chaos/recordings.ts'

// The check of recordings must detect violations.

const START_MS = Date.parse('2026-11-20T09:00:00Z')
const STEP_MS = 1_000
const [recordingId, sessionId, ownerId] = [randomUUID(), randomUUID(), randomUUID()]

interface Recorded {
  /** Numbers of the commands in the file, one each second. */
  steps: number[]
  /** Numbers of the commands that the robot received. */
  received: number[]
  gaps: { from: string; to: string; reason: string }[]
  segments: AcknowledgedSegment[]
  status: string
}

const segment = (number: number, from: number, to: number): AcknowledgedSegment => ({
  recordingId,
  streamId: 'stream',
  number,
  fromMs: START_MS + from * STEP_MS,
  lastMs: START_MS + to * STEP_MS,
  messages: to - from + 1,
})

async function fileOf({ steps, gaps }: Pick<Recorded, 'steps' | 'gaps'>): Promise<Uint8Array> {
  const parts: Uint8Array[] = []
  const file = await openMcapFile(async (bytes) => void parts.push(bytes.slice()))
  for (const [index, step] of steps.entries()) {
    const atNs = BigInt(START_MS + index * STEP_MS) * 1_000_000n
    const data = Buffer.from(JSON.stringify({ seq: step, data: { step } }))
    const message = { topic: '/control', logTimeNs: atNs, publishTimeNs: atNs, data }
    await file.add(message, () => topicDefinition('/control'))
  }
  await file.addMetadata('gaps', { gaps: JSON.stringify(gaps) })
  await file.end()
  return Buffer.concat(parts)
}

/** Runs the check with a recording of five commands in two segments, after a change. */
async function violations(change: (recorded: Recorded) => void = () => {}): Promise<string[]> {
  const recorded: Recorded = {
    steps: [0, 1, 2, 3, 4],
    received: [0, 1, 2, 3, 4],
    gaps: [],
    segments: [segment(0, 0, 2), segment(1, 3, 4)],
    status: 'READY',
  }
  change(recorded)
  const { status, received, segments } = recorded
  const evidence = createEvidence()
  evidence.commands.set(sessionId, new Map(received.map((step) => [step, START_MS + step * STEP_MS])))
  const row = { id: recordingId, session_id: sessionId, client_id: ownerId, status }
  const query = async (sql: string) => {
    if (sql.includes('not exists')) return { rows: status === 'none' ? [{ id: sessionId }] : [] }
    const isReady = status === 'READY'
    return { rows: sql.includes("<> 'READY'") === isReady || status === 'none' ? [] : [row] }
  }
  const environment = {
    db: { query },
    evidence,
    recordings: { segments: async () => segments, file: () => fileOf(recorded) },
  }
  return await recordingsComplete.run(environment as unknown as Environment)
}

test('a complete recording has no violations, and neither has one that names what is missing', async () => {
  expect(await violations()).toEqual([])
  const gap = await violations((recorded) => {
    recorded.received.push(20)
    const at = (second: number) => new Date(START_MS + second * STEP_MS).toISOString()
    recorded.gaps.push({ from: at(19), to: at(21), reason: 'source_lost' })
  })
  expect(gap).toEqual([])
})

test.each<[string, (recorded: Recorded) => void, RegExp]>([
  [
    'a command that is missing',
    ({ received }) => void received.push(20),
    /1 commands are missing .*number 20/,
  ],
  ['a command that is doubled', ({ steps }) => void steps.push(4), /command 4 follows command 4/],
  ['commands in another order', ({ steps }) => void steps.splice(1, 2, 2, 1), /command 1 follows command 2/],
  [
    'a segment that is missing',
    ({ segments }) => void segments.push(segment(2, 5, 6)),
    /segment 2 .* 0 of them/,
  ],
  ['a message of no segment', ({ segments }) => void segments.pop(), /have 3 messages in total, .* has 5/],
  [
    'a recording that is not finished',
    (recorded) => {
      recorded.status = 'FINISHING'
    },
    /is FINISHING/,
  ],
  [
    'a session without a recording',
    (recorded) => {
      recorded.status = 'none'
    },
    /with 5 commands, has no recording/,
  ],
])('%s is found', async (_what, change, expected) => {
  expect((await violations(change)).join('\n')).toMatch(expected)
})
