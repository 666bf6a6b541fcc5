import { expect, test, vi } from 'vitest'
import type { RecorderServices } from './messages.ts'
import { StreamNotes } from './stream-notes.ts'

vi.mock('node:timers/promises', () => ({ setTimeout: async () => {} }))

type Gap = Parameters<RecorderServices['streams']['addGap']>[1]

/** Notes with a database that is away for a number of calls. */
function createNotes(failures: number) {
  const written: unknown[] = []
  let left = failures
  const write = async (note: unknown) => {
    if (left-- > 0) throw new Error('the database is away')
    written.push(note)
  }
  const streams = {
    addGap: (_recordingId: string, gap: Gap) => write(gap),
    setPaused: (_recordingId: string, reason: unknown) => write(reason),
    closeStream: () => write('closed'),
  } as unknown as RecorderServices['streams']
  return { notes: new StreamNotes(streams), written }
}
const gap = (fromMs: number): Gap => ({ source: 'gateway', fromMs, toMs: fromMs + 1, reason: 'overload' })

test('a gap outlasts a long outage of the database', async () => {
  const { notes, written } = createNotes(50)
  notes.gap('recording', gap(1))
  await notes.close('stream', { atMs: 3, gap: null })
  expect(written).toEqual([gap(1), 'closed'])
})

test('gaps beyond the limit become one, and none is lost', async () => {
  const { notes, written } = createNotes(1)
  for (let number = 0; number < 200; number++) {
    notes.gap('recording', gap(number))
    notes.paused('recording', 'storage_full')
  }
  await notes.close('stream', { atMs: 300, gap: null })
  expect(written.length).toBeLessThan(70)
  expect(written.at(-1)).toBe('closed')
  const gaps = written.filter((note) => typeof note === 'object') as Gap[]
  for (let number = 0; number < 200; number++)
    expect(gaps.some(({ fromMs, toMs }) => fromMs <= number && toMs > number)).toBe(true)
})
