import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { downloadDataset, duckdb, probe } from '../../../support/recordings/dataset-files.ts'
import { h264Frames, vp8Frames } from '../../../support/recordings/encoded-frames.ts'
import { timesAt } from '../../../support/recordings/mcap-fixtures.ts'
import { exportDataset, recordEpisodes } from '../../../support/recordings/recorded-episodes.ts'
import { createWorld } from '../../../support/world/world.ts'

const START_MS = Date.parse('2026-11-20T09:00:00Z')

const controlSchema = {
  type: 'object',
  properties: {
    linear: { type: 'number', minimum: -1, maximum: 1, 'x-unit': 'm/s' },
    gripper: { type: 'string', enum: ['open', 'close'] },
    light: { type: 'boolean' },
  },
}
const telemetrySchema = {
  type: 'object',
  properties: {
    pose: {
      type: 'object',
      properties: {
        x_m: { type: 'number', 'x-unit': 'm' },
        y_m: { type: 'number', 'x-unit': 'm' },
        heading_rad: { type: 'number', 'x-unit': 'rad' },
      },
    },
    joints: { type: 'array', items: { type: 'number' }, maxItems: 2 },
    mode: { type: 'string', maxLength: 40 },
  },
}

test('an export of two episodes with two cameras opens with independent readers', async () => {
  await using world = await createWorld()
  const owner = await world.client()
  const robot = await world.robot(owner)
  const [vp8, h264] = [await vp8Frames({ frames: 300 }), await h264Frames({ frames: 300 })]
  const { episodeIds } = await recordEpisodes(
    world,
    owner,
    robot.id,
    {
      startMs: START_MS,
      controlSchema,
      telemetrySchema,
      control: timesAt(50, 8_000).map((atMs) => ({
        atMs,
        data: { linear: Math.sin(atMs / 500), gripper: atMs < 2_000 ? 'open' : 'close', light: atMs > 1_000 },
      })),
      telemetry: timesAt(30, 10_000).map((atMs) => ({
        atMs: atMs + 5,
        data: { pose: { x_m: atMs / 1_000, y_m: 2, heading_rad: 0 }, joints: [1, atMs], mode: 'auto' },
      })),
      cameras: [
        {
          name: 'front',
          format: 'vp8',
          frames: vp8.map((data, n) => ({ atMs: n * 33.4 + (n % 3), data })),
        },
        { name: 'wrist', format: 'h264', frames: h264.map((data, n) => ({ atMs: n * 33.3 + 7, data })) },
      ],
    },
    [
      { fromMs: 500, toMs: 4_500 },
      { fromMs: 5_000, toMs: 9_500, task: 'Place the cube', success: false, byRobot: true },
    ],
  )
  const ready = await exportDataset(world, owner, { episode_ids: episodeIds })
  expect(ready).toMatchObject({ version: 1, progress: 1, episodes: 2, error: null, format: 'lerobot_v3' })
  await using dataset = await downloadDataset(world, owner, ready.base_url)
  expect(dataset.paths).toEqual([
    'README.md',
    'data/chunk-000/file-000.parquet',
    'meta/episodes/chunk-000/file-000.parquet',
    'meta/info.json',
    'meta/stats.json',
    'meta/tasks.parquet',
    'videos/observation.images.front/chunk-000/file-000.mp4',
    'videos/observation.images.wrist/chunk-000/file-000.mp4',
  ])

  const info = JSON.parse(await readFile(dataset.path('meta/info.json'), 'utf8'))
  expect(info).toMatchObject({
    codebase_version: 'v3.0',
    robot_type: 'testbot',
    total_episodes: 2,
    total_frames: ready.frames,
    total_tasks: 2,
    fps: 30,
    splits: { train: '0:2' },
  })
  expect(info.features.action).toMatchObject({
    dtype: 'float32',
    shape: [3],
    names: ['linear', 'gripper', 'light'],
    info: { units: ['m/s', null, null], choices: { gripper: ['open', 'close'] } },
  })
  expect(info.features['observation.state'].names).toEqual([
    'pose.x_m',
    'pose.y_m',
    'pose.heading_rad',
    'joints.0',
    'joints.1',
  ])
  expect(info.features['observation.images.front']).toMatchObject({
    dtype: 'video',
    shape: [120, 160, 3],
    info: { 'video.codec': 'vp8', 'video.fps': 30 },
  })

  const rows = await duckdb(
    `select * from '${dataset.path('data/chunk-000/file-000.parquet')}' order by index`,
  )
  expect(rows).toHaveLength(ready.frames)
  for (const [index, row] of rows.entries()) {
    expect(row.index).toBe(String(index))
    const frame = Number(row.frame_index)
    expect(row.timestamp).toBeCloseTo(frame / 30, 5)
    const [state, action] = [row['observation.state'] as number[], row.action as number[]]
    expect(state).toHaveLength(5)
    // The row is at the time of its frame, and the telemetry has the time in x_m.
    expect(action[0]).toBeLessThanOrEqual(1)
    expect((state[0] as number) * 1_000).toBeCloseTo(state[4] as number, 1)
  }
  const episodes = await duckdb(
    `select * from '${dataset.path('meta/episodes/chunk-000/file-000.parquet')}' order by episode_index`,
  )
  expect(episodes.map(({ tasks }) => tasks)).toEqual([['Pick the cube'], ['Place the cube']])
  const [first, second] = episodes as [Record<string, unknown>, Record<string, unknown>]
  expect([first.dataset_from_index, second.dataset_to_index]).toEqual(['0', String(ready.frames)])
  expect(first.dataset_to_index).toBe(second.dataset_from_index)
  for (const camera of ['front', 'wrist']) {
    const key = `observation.images.${camera}`
    const video = await probe(dataset.path(`videos/${key}/chunk-000/file-000.mp4`))
    expect(video.stream).toMatchObject({ avg_frame_rate: '30/1', width: 160, height: 120 })
    expect(video.times.every((seconds, frame) => Math.abs(seconds - frame / 30) < 1e-4)).toBe(true)
    const end = Number(second[`videos/${key}/to_timestamp`])
    expect(video.times).toHaveLength(Math.round(end * 30))
  }

  // The operator stopped to send commands after eight seconds: the speed ends, gripper and light hold.
  const last = rows.at(-1) as Record<string, unknown>
  expect(last).toMatchObject({ action: [0, 1, 1], 'complementary_info.is_intervention': false })
  expect(rows[0]).toMatchObject({ 'complementary_info.is_intervention': true, 'next.done': false })
  expect(rows.filter((row) => row['next.done'])).toHaveLength(2)
  expect(rows.filter((row) => row['next.success'])).toHaveLength(1)

  const tasks = await duckdb(
    `select task, task_index from '${dataset.path('meta/tasks.parquet')}' order by task_index`,
  )
  expect(tasks).toEqual([
    { task: 'Pick the cube', task_index: '0' },
    { task: 'Place the cube', task_index: '1' },
  ])
  const card = await readFile(dataset.path('README.md'), 'utf8')
  expect(card).toMatch(/^---\nlicense: other\ntask_categories:\n- robotics\ntags:\n- LeRobot\n/)
  expect(card).toContain('`mode`')
})
