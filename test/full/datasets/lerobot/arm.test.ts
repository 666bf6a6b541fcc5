import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { jointLimits } from '../../../../tools/demo/arm/kinematics.ts'
import {
  armControlSchema,
  armTelemetrySchema,
  SimulatedArm,
} from '../../../../tools/demo/arm/simulated-arm.ts'
import { PYTHONPATH } from '../../../support/examples/example-robots.ts'
import { downloadDataset, duckdb } from '../../../support/recordings/dataset-files.ts'
import { exportDataset } from '../../../support/recordings/recorded-episodes.ts'
import { withRecorder } from '../../../support/recordings/recording-fixture.ts'
import { startPython } from '../../../support/video/python-programs.ts'
import { performAction, start, tolerateLatency } from '../../../support/world/session-fixtures.ts'
import { waitFor } from '../../../support/world/wait.ts'
import { createWorld } from '../../../support/world/world.ts'

const leaderProgram = fileURLToPath(new URL('../../../../examples/python/leader.py', import.meta.url))
const FPS = 20
const DATA = 'data/chunk-000/file-000.parquet'

test('an arm that a leader arm drives becomes a dataset whose joints never move faster than they may', async () => {
  await using world = await createWorld({ env: withRecorder })
  const [owner, operator] = [await world.client(), await world.operator()]
  const { id, token } = await world.robot(owner)
  const settings = { control_schema: armControlSchema, telemetry_schema: armTelemetrySchema }
  const changed = await owner.patch(`/api/client/robots/${id}`, {
    ...settings,
    strict_control: true,
    recording: 'control',
  })
  expect(changed.status, JSON.stringify(changed.body)).toBe(200)
  await tolerateLatency(world, id)
  const arm = new SimulatedArm({ url: `${world.gatewayUrl}/robots/${id}/control`, token })
  try {
    await arm.start()
    const session = await waitFor(() => start(operator, id))
    const path = `/api/sessions/${session}`
    await waitFor(async () =>
      expect((await owner.get(`${path}/recording`)).body).toMatchObject({ status: 'RECORDING' }),
    )
    const mark = async (action: string) =>
      expect((await operator.post(`${path}/episodes`, { action, task: 'Wave' })).status).toBe(200)
    await mark('start')
    {
      await using leader = await startPython(leaderProgram, {
        args: [session],
        env: { PYTHONPATH, WHEELHOUSE_URL: world.baseUrl, WHEELHOUSE_API_KEY: operator.token },
      })
      const { j1 } = arm.state.angles
      await waitFor(() => expect(Math.abs(arm.state.angles.j1 - j1), leader.output()).toBeGreaterThan(0.2))
    }
    await mark('success')
    await performAction(owner, session, 'end')
    await waitFor(async () =>
      expect((await owner.get(`${path}/recording`)).body).toMatchObject({ status: 'READY', gaps: [] }),
    )
    const { episodes } = (await owner.get(`${path}/episodes`)).body
    const ready = await exportDataset(world, owner, { episode_ids: [episodes[0].id], fps: FPS })
    await using dataset = await downloadDataset(world, owner, ready.base_url)
    const { features } = JSON.parse(await readFile(dataset.path('meta/info.json'), 'utf8'))
    const indexOf = (feature: string, name: string) => features[feature].names.indexOf(name)
    const rows = await duckdb(`select * from '${dataset.path(DATA)}' order by index`)
    for (const feature of ['action', 'observation.state']) {
      const index = indexOf(feature, 'joints.j1')
      expect(index, feature).toBeGreaterThanOrEqual(0)
      const angles = rows.map((row) => (row[feature] as number[])[index] as number)
      expect(Math.max(...angles) - Math.min(...angles), feature).toBeGreaterThan(0.1)
    }
    // Samples of the arm are 50 ms apart, so a row can be a sample and a half from the next one.
    const observed = rows.map(
      (row) => (row['observation.state'] as number[])[indexOf('observation.state', 'joints.j1')],
    )
    const steps = observed.slice(1).map((angle, row) => Math.abs((angle ?? 0) - (observed[row] ?? 0)))
    expect(Math.max(...steps)).toBeLessThan((jointLimits.j1.maxRate / FPS) * 3)
  } finally {
    await arm.close()
  }
})
