import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import sharp from 'sharp'
import { expect, test } from 'vitest'
import { duckdb, probe } from '../../../support/recordings/dataset-files.ts'
import {
  h264Frames,
  jpegFrame,
  requireFfmpeg,
  vp8Frames,
} from '../../../support/recordings/encoded-frames.ts'
import { type FixtureCamera, timesAt } from '../../../support/recordings/mcap-fixtures.ts'
import { writeDataset } from '../../../support/recordings/written-dataset.ts'

const START_MS = Date.parse('2026-11-20T09:00:00Z')
const KEY = 'observation.images.front'
const VIDEO = `videos/${KEY}/chunk-000/file-000.mp4`
const DATA = 'data/chunk-000/file-000.parquet'
const EPISODES = 'meta/episodes/chunk-000/file-000.parquet'
const run = promisify(execFile)

const camera = (
  format: FixtureCamera['format'],
  frames: readonly Uint8Array[],
  times: readonly number[],
) => ({
  name: 'front',
  format,
  frames: frames.map((data, index) => ({ atMs: times[index] as number, data })),
})
/** Creates a recording whose telemetry has the time as its number. */
const recordingOf = (...cameras: FixtureCamera[]) => ({
  startMs: START_MS,
  telemetry: timesAt(50, 12_000).map((atMs) => ({ atMs, data: { ms: atMs } })),
  cameras,
})

/** Returns the mean red of each frame of a video. */
async function redsOf(path: string): Promise<number[]> {
  const args = [
    '-v',
    'error',
    '-i',
    path,
    '-vf',
    'scale=1:1',
    '-f',
    'rawvideo',
    '-pix_fmt',
    'rgb24',
    'pipe:1',
  ]
  const { stdout } = await run('ffmpeg', args, { encoding: 'buffer', maxBuffer: 1e8 })
  return [...stdout].filter((_, index) => index % 3 === 0)
}

for (const [format, makeFrames] of [['vp8', vp8Frames] as const, ['h264', h264Frames] as const])
  test(`${format} at the rate of the dataset is stored without transcoding, from the keyframe before each episode on`, async () => {
    const frames = await makeFrames({ frames: 300, keyframeDistance: 90 })
    const times = frames.map((_, index) => index * 33.4 + (index % 3))
    await using dataset = await writeDataset({
      recording: recordingOf(camera(format, frames, times)),
      episodes: [
        [1_000, 4_000],
        [6_500, 9_000],
      ],
      cameras: ['front'],
      tools: { ffmpeg: false, decoder: false },
    })
    expect(dataset.plan.cameras).toMatchObject([{ mode: 'mux', format }])
    const rows = await duckdb(`select * from '${dataset.path(DATA)}' order by index`)
    const firstFrame = (ms: number) => times.findIndex((time) => time >= ms)
    const [first, second] = await duckdb(`select * from '${dataset.path(EPISODES)}' order by episode_index`)
    // Episode 1 begins 30 frames after the keyframe 0, episode 2 some frames after the keyframe 180.
    const before = [firstFrame(1_000), firstFrame(6_500) - 180]
    const lengths = [first, second].map((episode) => Number(episode?.length))
    expect(lengths.reduce((sum, length) => sum + length, 0)).toBe(rows.length)
    expect(first?.[`videos/${KEY}/from_timestamp`]).toBeCloseTo(before[0]! / 30, 6)
    expect(second?.[`videos/${KEY}/from_timestamp`]).toBeCloseTo(
      (before[0]! + lengths[0]! + before[1]!) / 30,
      6,
    )
    const { stream, times: shown } = await probe(dataset.path(VIDEO))
    expect(stream).toMatchObject({ codec_name: format, avg_frame_rate: '30/1' })
    expect(shown).toHaveLength(before[0]! + lengths[0]! + before[1]! + lengths[1]!)
    for (const [frame, seconds] of shown.entries()) expect(seconds).toBeCloseTo(frame / 30, 4)
    // Each row has the last sample up to the time of its frame, of 50 in a second.
    for (const [index, row] of rows.slice(0, lengths[0]).entries()) {
      const frameMs = times[firstFrame(1_000) + index] as number
      const ageMs = frameMs - Number(row['observation.state'])
      expect(ageMs).toBeGreaterThanOrEqual(-0.1)
      expect(ageMs).toBeLessThanOrEqual(20.1)
    }
    // Statistics without a decoder are those of ImageNet.
    const [stats] = await duckdb(`select "stats/${KEY}/mean" as mean from '${dataset.path(EPISODES)}'`)
    expect(stats?.mean).toEqual([[[0.485]], [[0.456]], [[0.406]]])
  })

test('pictures of any rate become video, which shows at each row the last picture before it', async () => {
  await requireFfmpeg()
  // The camera pauses for a second, then sends ten pictures at once.
  const times = [0, 40, 80, 1_100, ...timesAt(100, 100).map((ms) => 2_000 + ms), 2_900]
  const reds = times.map((_, index) => 10 + index * 14)
  const frames = await Promise.all(reds.map((red) => jpegFrame(red)))
  await using dataset = await writeDataset({
    recording: recordingOf(camera('jpeg', frames, times)),
    episodes: [[0, 3_500]],
    cameras: ['front'],
  })
  expect(dataset.plan).toMatchObject({
    leadCamera: undefined,
    cameras: [{ mode: 'transcode', format: 'h264' }],
  })
  const { stream, times: shown } = await probe(dataset.path(VIDEO))
  expect(stream).toMatchObject({ codec_name: 'h264', avg_frame_rate: '30/1', nb_frames: '105' })
  for (const [frame, seconds] of shown.entries()) expect(seconds).toBeCloseTo(frame / 30, 4)
  const seen = await redsOf(dataset.path(VIDEO))
  const expected = seen.map(
    (_, row) => reds[times.findLastIndex((ms) => ms <= (row * 1_000) / 30 + 1e-6)] as number,
  )
  for (const [row, red] of seen.entries())
    expect(Math.abs(red - (expected[row] as number)), `row ${row}`).toBeLessThan(8)
  const rows = await duckdb(`select * from '${dataset.path(DATA)}'`)
  expect(rows).toHaveLength(105)
})

test('without ffmpeg, pictures are in the rows as they are', async () => {
  const times = timesAt(20, 2_000)
  const reds = times.map((_, index) => index * 6)
  const frames = await Promise.all(reds.map((red) => jpegFrame(red)))
  frames[5] = Buffer.from([0xff, 0xd8, 1, 2]) // damaged
  frames[9] = await jpegFrame(reds[9] as number, 80, 60)
  await using dataset = await writeDataset({
    recording: recordingOf(camera('jpeg', frames, times)),
    episodes: [[500, 2_000]],
    cameras: ['front'],
    fps: 10,
    tools: { ffmpeg: false, decoder: true },
  })
  expect(dataset.plan.cameras).toMatchObject([{ mode: 'images', size: { width: 160, height: 120 } }])
  const rows = await duckdb(
    `select "observation.state" as ms, "${KEY}".path as path, to_base64("${KEY}".bytes) as bytes from '${dataset.path(DATA)}' order by index`,
  )
  expect(rows).toHaveLength(15)
  for (const [index, row] of rows.entries()) {
    const bytes = Buffer.from(String(row.bytes), 'base64')
    expect(row.path).toBe(`frame-${index}.jpg`)
    expect(await sharp(bytes).metadata()).toMatchObject({ format: 'jpeg', width: 160, height: 120 })
    expect(bytes.equals(frames[10 + index * 2] as Buffer)).toBe(true)
  }
})

test('without ffmpeg, video of another rate becomes pictures in the rows', async () => {
  const frames = await vp8Frames({ frames: 100, keyframeDistance: 25 })
  frames[30] = Buffer.from([1, 2, 3]) // damaged
  const times = frames.map((_, index) => index * 50)
  await using dataset = await writeDataset({
    recording: recordingOf(camera('vp8', frames, times)),
    episodes: [[1_000, 3_000]],
    cameras: ['front'],
    tools: { ffmpeg: false, decoder: true },
  })
  expect(dataset.plan.cameras).toMatchObject([{ mode: 'images', format: 'jpeg' }])
  const rows = await duckdb(
    `select to_base64("${KEY}".bytes) as bytes, "stats" from (select *, 1 as stats from '${dataset.path(DATA)}') order by index`,
  )
  expect(rows).toHaveLength(60)
  const pictures = await Promise.all(
    rows.map(({ bytes }) => sharp(Buffer.from(String(bytes), 'base64')).metadata()),
  )
  expect(pictures.every(({ width, height }) => width === 160 && height === 120)).toBe(true)
  const [stats] = await duckdb(`select "stats/${KEY}/count" as count from '${dataset.path(EPISODES)}'`)
  expect(stats?.count).toEqual(['15'])
})

test('video that changes its size is transcoded to the size of the first frame', async () => {
  const frames = [
    ...(await vp8Frames({ frames: 60 })),
    ...(await vp8Frames({ frames: 60, width: 80, height: 60 })),
  ]
  await using dataset = await writeDataset({
    recording: recordingOf(
      camera(
        'vp8',
        frames,
        frames.map((_, index) => index * 33.3),
      ),
    ),
    episodes: [[0, 3_900]],
    cameras: ['front'],
  })
  expect(dataset.plan.cameras).toMatchObject([{ mode: 'transcode', size: { width: 160, height: 120 } }])
  expect((await probe(dataset.path(VIDEO))).stream).toMatchObject({
    width: 160,
    height: 120,
    nb_frames: '117',
  })
})

test('a camera that cannot be exported is left out, or named if the user chose it', async () => {
  const frames = await vp8Frames({ frames: 60 })
  const early = camera(
    'vp8',
    frames,
    frames.map((_, index) => index * 33.3),
  )
  const options = {
    recording: recordingOf(early),
    episodes: [
      [0, 1_500],
      [5_000, 6_000],
    ] as const,
    cameras: ['front'],
  }
  await using dataset = await writeDataset({ ...options, fps: 15 })
  expect(dataset.plan).toMatchObject({ cameras: [], leftOut: ['front'] })
  expect(await duckdb(`select * from '${dataset.path(DATA)}'`)).toHaveLength(22 + 15)
  await expect(writeDataset({ ...options, isChosen: true })).rejects.toThrow(/camera front has no pictures/)
  const noTools = { ffmpeg: false, decoder: false }
  await expect(writeDataset({ ...options, episodes: [[0, 1_500]], fps: 15, tools: noTools })).rejects.toThrow(
    /install ffmpeg/,
  )
})
