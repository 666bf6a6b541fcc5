import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { datasetInfo } from '../../../../src/modules/datasets/lerobot/dataset-info.ts'
import { duckdb } from '../../../support/recordings/dataset-files.ts'
import { type FixtureRecording, timesAt } from '../../../support/recordings/mcap-fixtures.ts'
import { writeDataset } from '../../../support/recordings/written-dataset.ts'

const START_MS = Date.parse('2026-11-20T09:00:00Z')
const DATA = 'data/chunk-000/file-000.parquet'
const POLICY = '6f1c7e52-6d0b-4c3a-9a1e-8f0f5b1f2c11'
const schema = { type: 'object', properties: { linear: { type: 'number' }, grip: { type: 'number' } } }
const telemetry = timesAt(10, 6_000).map((atMs) => ({ atMs, data: { battery: 1 } }))

const holder = (kind: string) => ({ participant_id: POLICY, user_id: POLICY, kind })
const transferred = (atMs: number, epoch: number, from: string, to: string | null) => ({
  atMs,
  fields: { type: 'control.transferred' },
  data: { from: holder(from), to: to && holder(to), epoch, reason: 'taken_over' },
})
/** Commands at 20 Hz in a part of the recording. */
const commands = (fromMs: number, toMs: number, linear: number, fields: object = {}) =>
  timesAt(20, 6_000)
    .filter((atMs) => atMs >= fromMs && atMs < toMs)
    .map((atMs) => ({ atMs, data: { linear, grip: linear * 10 }, fields: { ...fields } }))

/** A policy drives, a person takes over at 2 s and returns control at 4 s. */
const driven: FixtureRecording = {
  startMs: START_MS,
  telemetry,
  controlSchema: schema,
  events: [transferred(2_000, 2, 'policy', 'supervisor'), transferred(4_000, 3, 'supervisor', 'policy')],
  control: [
    ...commands(0, 2_000, 0.1),
    ...commands(2_100, 4_000, 0.5, { epoch: 2 }),
    ...commands(4_100, 6_000, 0.2, { epoch: 3 }),
  ],
  dropped: commands(2_050, 4_000, 0.3, { why: 'not_holder', policy_id: POLICY, epoch: 2 }),
}

const write = (
  recording: FixtureRecording,
  episodes: readonly (readonly [number, number])[] = [[500, 5_500]],
) => writeDataset({ recording, episodes, cameras: [], fps: 10 })

async function rowsOf(recording: FixtureRecording, episodes?: readonly (readonly [number, number])[]) {
  await using dataset = await write(recording, episodes)
  const rows = await duckdb(`select * from '${dataset.path(DATA)}' order by index`)
  return rows.map(
    (row) => ({ ...row, atMs: 500 + Number(row.frame_index) * 100 }) as typeof row & { atMs: number },
  )
}
const linearOf = (value: unknown) => Number((value as number[])[0]).toFixed(1)

test('rows in which a person held control are interventions, and have the action of the policy beside', async () => {
  const rows = await rowsOf(driven)
  expect(rows).toHaveLength(50)
  for (const row of rows) {
    const { atMs } = row
    const byPerson = atMs >= 2_000 && atMs < 4_000
    expect([atMs, row.intervention, row['complementary_info.is_intervention']]).toEqual([
      atMs,
      byPerson,
      byPerson,
    ])
    if (atMs % 2_000 < 200) continue // the moment of the change
    expect([atMs, linearOf(row.action), linearOf(row.policy_action)]).toEqual(
      atMs < 2_000 ? [atMs, '0.1', '0.1'] : byPerson ? [atMs, '0.5', '0.3'] : [atMs, '0.2', '0.2'],
    )
  }
})

test('the features describe the action of the policy as the action, and interventions as LeRobot does', async () => {
  await using dataset = await write(driven)
  const totals = { robotType: 'testbot', episodes: 1, frames: 50, tasks: ['Pick the cube'] }
  const { features } = datasetInfo(dataset.plan, totals) as { features: Record<string, unknown> }
  expect(features.policy_action).toEqual(features.action)
  expect(features.intervention).toEqual({ dtype: 'bool', shape: [1], names: null })
  expect(Object.keys(dataset.part.stats)).toContain('policy_action')
})

test('a policy that only watches takes part from its first command on', async () => {
  const rows = await rowsOf({
    ...driven,
    events: [],
    control: commands(0, 6_000, 0.5),
    dropped: commands(2_050, 4_000, 0.3, { why: 'not_holder', policy_id: POLICY }),
  })
  for (const { atMs, intervention } of rows) expect([atMs, intervention]).toEqual([atMs, atMs >= 2_050])
  // Speeds of a policy that sends no more are neutral, as those of an operator.
  expect(rows.at(-1)).toMatchObject({ policy_action: [0, 3] })
})

test('a policy that started the session drives without an intervention until a person takes over', async () => {
  const alone = { startMs: START_MS, telemetry, controlSchema: schema, session: { operator_kind: 'policy' } }
  const undisturbed = await rowsOf({ ...alone, control: commands(0, 6_000, 0.1) })
  for (const row of undisturbed)
    expect([row.atMs, row.intervention, row.policy_action]).toEqual([row.atMs, false, row.action])
  const rows = await rowsOf({
    ...alone,
    control: commands(0, 6_000, 0.1),
    events: [transferred(2_000, 2, 'policy', 'operator')],
  })
  for (const { atMs, intervention } of rows) expect([atMs, intervention]).toEqual([atMs, atMs >= 2_000])
})

test('while nobody holds control, and before a policy takes part, nobody intervenes', async () => {
  const rows = await rowsOf({
    ...driven,
    events: [transferred(2_000, 2, 'operator', 'policy'), transferred(4_000, 3, 'policy', null)],
  })
  for (const { atMs, intervention } of rows) expect([atMs, intervention]).toEqual([atMs, false])
})

test('without a policy a dataset does not change', async () => {
  const control = commands(0, 6_000, 0.5)
  const plain = { startMs: START_MS, telemetry, controlSchema: schema, control }
  await using alone = await write(plain)
  await using handedOver = await write({
    ...plain,
    events: [transferred(2_000, 2, 'operator', 'supervisor')],
    dropped: commands(2_050, 4_000, 0.3, { why: 'not_holder' }),
  })
  expect(alone.plan).toEqual(handedOver.plan)
  expect(alone.plan.vectors.map(({ key }) => key)).toEqual(['observation.state', 'action'])
  for (const { path } of alone.part.files)
    expect(await readFile(handedOver.path(path)), path).toEqual(await readFile(alone.path(path)))
})
