import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { duckdb } from '../../../support/recordings/dataset-files.ts'
import { jpegFrame } from '../../../support/recordings/encoded-frames.ts'
import { timesAt } from '../../../support/recordings/mcap-fixtures.ts'
import { writeDataset } from '../../../support/recordings/written-dataset.ts'

const START_MS = Date.parse('2026-11-20T09:00:00Z')
const DATA = 'data/chunk-000/file-000.parquet'
/** Samples are between 20 and 420 ms on their way, so that later ones arrive in bursts. */
const wayOf = (index: number) => 20 + 100 * (4 - (index % 5))
const telemetry = timesAt(20, 4_000).map((madeMs, index) => ({
  atMs: madeMs + wayOf(index),
  wayMs: wayOf(index),
  data: { made_ms: madeMs },
}))
const control = timesAt(50, 1_000).map((atMs) => ({ atMs, data: { v: 1 } }))

test('rows have the samples that the robot had made by their time, and no later ones', async () => {
  const rowsOf = async (alignment: 'causal' | 'nearest') => {
    await using dataset = await writeDataset({
      recording: { startMs: START_MS, telemetry, control },
      episodes: [[500, 2_500]],
      cameras: [],
      fps: 30,
      alignment,
    })
    return await duckdb(`select * from '${dataset.path(DATA)}' order by index`)
  }
  const distances = (rows: Record<string, unknown>[]) =>
    rows.map((row) => 500 + (Number(row.frame_index) * 1_000) / 30 - Number(row['observation.state']))
  const causal = await rowsOf('causal')
  expect(causal).toHaveLength(60)
  for (const distanceMs of distances(causal)) {
    expect(distanceMs).toBeGreaterThan(-0.001)
    expect(distanceMs).toBeLessThan(50)
  }
  for (const distanceMs of distances(await rowsOf('nearest')))
    expect(Math.abs(distanceMs)).toBeLessThan(25.001)
  for (const row of causal) expect(row.intervention).toBe(row['complementary_info.is_intervention'])
  expect(new Set(causal.map(({ intervention }) => intervention))).toEqual(new Set([true, false]))
})

test('rows have the pictures that were captured by their time', async () => {
  const times = timesAt(10, 3_000)
  const pictures = await Promise.all(times.map((_, index) => jpegFrame(index * 8)))
  const frames = times.map((ms, index) => ({
    atMs: ms + 300,
    wayMs: 300,
    data: pictures[index] as Uint8Array,
  }))
  await using dataset = await writeDataset({
    recording: { startMs: START_MS, telemetry, cameras: [{ name: 'front', format: 'jpeg', frames }] },
    episodes: [[1_000, 2_000]],
    cameras: ['front'],
    fps: 10,
    tools: { ffmpeg: false, decoder: false },
  })
  const shown = await duckdb(
    `select md5("observation.images.front".bytes) as md5 from '${dataset.path(DATA)}' order by index`,
  )
  const md5 = (bytes: Uint8Array) => createHash('md5').update(bytes).digest('hex')
  expect(shown.map((row) => row.md5)).toEqual(pictures.slice(10, 20).map(md5))
})

test('commands have the times of the pictures that their operators saw, if the export is aligned by them', async () => {
  // Each command tells the time of the picture that it answers, 400 to 500 ms later.
  const answers = timesAt(20, 4_000).map((atMs) => {
    const pictureMs = Math.floor((atMs - 400) / 100) * 100
    return { atMs, data: { answers_ms: Math.max(0, pictureMs) }, seen: { front: pictureMs, rear: 0 } }
  })
  const picture = await jpegFrame(7)
  const frames = timesAt(10, 4_000).map((atMs) => ({ atMs, data: picture }))
  const rowsOf = async (align: 'time' | 'seen') => {
    await using dataset = await writeDataset({
      recording: {
        startMs: START_MS,
        control: answers,
        cameras: [{ name: 'front', format: 'jpeg', frames }],
      },
      episodes: [[1_000, 2_000]],
      cameras: ['front'],
      fps: 10,
      align,
      tools: { ffmpeg: false, decoder: false },
    })
    const rows = await duckdb(`select action, frame_index from '${dataset.path(DATA)}' order by index`)
    return rows.map(({ action, frame_index }) => [1_000 + Number(frame_index) * 100, Number(action)])
  }
  for (const [rowMs = 0, answersMs = 0] of await rowsOf('time'))
    expect(rowMs - answersMs).toBeGreaterThan(390)
  const aligned = await rowsOf('seen')
  expect(aligned).toHaveLength(10)
  for (const [rowMs, answersMs] of aligned) expect(answersMs).toBe(rowMs)
})
