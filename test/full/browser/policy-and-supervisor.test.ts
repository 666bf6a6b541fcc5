import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { RobotLink } from '@wheelhouse/sdk'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createMonthlyClose } from '../../../src/modules/billing/invoice-close.ts'
import { forgiveSlowStops, SLOW_RELOADS } from '../../support/browser/cockpit.ts'
import { type ConsoleBrowser, openConsole } from '../../support/browser/console.ts'
import { CONNECT_PAD, TWO_FRAMES } from '../../support/browser/gamepad.ts'
import { PYTHONPATH } from '../../support/examples/example-robots.ts'
import { python } from '../../support/programs/external-programs.ts'
import { downloadDataset, duckdb } from '../../support/recordings/dataset-files.ts'
import { exportDataset } from '../../support/recordings/recorded-episodes.ts'
import { download, readMcap, withRecorder } from '../../support/recordings/recording-fixture.ts'
import { auditIntervals } from '../../support/stripe/money-audit.ts'
import { addMember, createTeam, teamRobot } from '../../support/world/organizations.ts'
import { performAction, start, tolerateLatency } from '../../support/world/session-fixtures.ts'
import { waitFor } from '../../support/world/wait.ts'
import { createWorld, type World } from '../../support/world/world.ts'

// The whole of control that changes hands: an operator of the marketplace, a policy in Python and a supervisor in a browser drive one
// robot, one after another. What the robot obeyed, what is recorded, and what it costs, must agree.

let world: World
let browser: ConsoleBrowser
beforeAll(async () => {
  // Only changes of control halt the robot, also on a busy machine.
  world = await createWorld({ env: { ...withRecorder, ...SLOW_RELOADS, DEADMAN_MS: '30000' } })
  browser = await openConsole(world.baseUrl)
})
afterAll(async () => {
  await browser?.[Symbol.asyncDispose]()
  forgiveSlowStops(world)
  await world?.[Symbol.asyncDispose]()
})

const speed = { type: 'number', minimum: -1, maximum: 1 } as const
const control_schema = {
  type: 'object',
  properties: { linear_mps: { ...speed, 'x-unit': 'm/s' }, angular_radps: { ...speed, 'x-unit': 'rad/s' } },
}
const telemetry_schema = { type: 'object', properties: { speed_mps: { type: 'number' } } }

/** What a robot has done, in order. */
type Deed =
  | { readonly did: 'obey'; readonly epoch: number; readonly linearMps: number }
  | { readonly did: 'halt'; readonly reason: string }
  | { readonly did: 'learn'; readonly epoch: number }

/** Connects a robot that notes what it does. */
async function connectRobot(robot: { id: string; token: string }) {
  const deeds: Deed[] = []
  const link: RobotLink = new RobotLink({
    url: `${world.gatewayUrl}/robots/${robot.id}/control`,
    token: robot.token,
    PeerConnection: null,
    onLease: ({ epoch }) => deeds.push({ did: 'learn', epoch }),
    onControl: ({ seq, epoch = 1, data }) => {
      const { linear_mps: linearMps } = data as { linear_mps: number }
      deeds.push({ did: 'obey', epoch, linearMps })
      link.ack(seq)
      link.telemetry({ speed_mps: linearMps })
    },
    onStop: ({ reason }) => {
      deeds.push({ did: 'halt', reason })
      link.stopped(reason)
    },
  })
  await link.connect()
  const obeyed = (epoch: number) =>
    deeds.flatMap((deed) => (deed.did === 'obey' && deed.epoch === epoch ? deed : []))
  return {
    deeds,
    obeyed,
    /** Settles when the robot has obeyed another command of this epoch. */
    obeys: (epoch: number) => {
      const before = obeyed(epoch).length
      return waitFor(() => expect(obeyed(epoch).length).toBeGreaterThan(before))
    },
    [Symbol.asyncDispose]: () => link.close(),
  }
}

/** Starts `examples/python/policy.py`. */
async function startPolicy(key: string, sessionId: string) {
  const script = fileURLToPath(new URL('../../../examples/python/policy.py', import.meta.url))
  const child = spawn(await python(['websockets']), ['-B', script, sessionId], {
    env: { ...process.env, PYTHONPATH, WHEELHOUSE_URL: world.baseUrl, WHEELHOUSE_API_KEY: key },
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk) => {
      output += chunk
    })
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve))
  return {
    output: () => output,
    ended,
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL')
      await ended
    },
  }
}

test('a policy in Python drives, a supervisor takes over by the stick and returns, and recording and invoice say so', async () => {
  const founder = await world.client()
  const teamId = await createTeam(founder)
  const owner = await founder.actingFor(teamId)
  const person = await world.newUser()
  await addMember(world, teamId, person, 'supervisor')
  const supervisor = await person.actingFor(teamId)
  const operator = await world.operator()
  const accounts = `/api/organizations/${teamId}/service-accounts`
  const { id: policyId } = (await owner.post(accounts, { name: 'Stacking policy', role: 'operator' })).body
  const keyInput = { scopes: ['read', 'drive'], expiresInDays: 30 }
  const { key } = (await owner.post(`${accounts}/${policyId}/keys`, keyInput)).body

  const registered = await teamRobot(owner, { operators: 'both' })
  const settings = { recording: 'control', control_schema, telemetry_schema }
  const changed = await owner.patch(`/api/client/robots/${registered.id}`, settings)
  expect(changed.status, JSON.stringify(changed.body)).toBe(200)
  await tolerateLatency(world, registered.id)
  await using robot = await connectRobot(registered)

  // 1. The operator of the marketplace drives, at a price.
  const id = await waitFor(() => start(operator, registered.id))
  const control = `/api/sessions/${id}/control`
  const operatorConsole = await world.drive(operator, id)
  await operatorConsole.state(({ status, robot_connected }) => status === 'ACTIVE' && robot_connected)
  operatorConsole.control({ linear_mps: 0.05, angular_radps: 0 })
  await robot.obeys(1)

  // 2. The policy asks, and drives once the operator has agreed.
  await using policy = await startPolicy(key, id)
  const request = await waitFor(async () => {
    const [found] = (await operator.get(control)).body.requests
    expect(found, policy.output()).toMatchObject({ from: policyId, reason: 'I am ready to drive' })
    return found
  })
  expect(await operator.post(control, { action: 'accept', requestId: request.id })).toMatchObject({
    status: 200,
    body: { epoch: 2, holder: { kind: 'policy', user_id: policyId } },
  })
  await waitFor(() => expect(robot.obeyed(2).at(-1), policy.output()).toMatchObject({ linearMps: 0.3 }))

  // 3. The supervisor opens the cockpit. Within its dead zone, the stick changes nothing.
  const { page } = await browser.enter(supervisor, `/dashboard/drive/${id}`)
  const other = page.getByTestId('control-other')
  await other.getByText('Stacking policy').waitFor()
  await other.getByRole('button', { name: 'Take control' }).waitFor()
  await page.evaluate(CONNECT_PAD)
  await page.getByTitle(/Gamepad: Test pad/).waitFor()
  let changes = 0
  page.on('request', (sent) => {
    if (sent.method() === 'POST' && sent.url().endsWith(control)) changes += 1
  })
  const stick = async (axes: readonly number[]) => {
    await page.evaluate(`window.pad.axes = ${JSON.stringify(axes)}`)
    await page.evaluate(TWO_FRAMES)
  }
  await stick([0.1, -0.14])
  await robot.obeys(2)
  expect(changes).toBe(0)
  await stick([0, -0.5])
  await waitFor(async () =>
    expect((await owner.get(control)).body).toMatchObject({
      epoch: 3,
      holder: { kind: 'supervisor', user_id: supervisor.id },
    }),
  )
  expect(changes).toBe(1)
  await other.waitFor({ state: 'detached' })
  await waitFor(() => expect(policy.output()).toContain(`${supervisor.name} drives`))

  // The stick that took over drives after it has been at rest.
  await page.getByTitle(/Gamepad: Test pad/).waitFor({ state: 'detached' })
  await stick([0, 0])
  await page.getByTitle(/Gamepad: Test pad/).waitFor()
  expect(robot.obeyed(3).filter(({ linearMps }) => linearMps !== 0)).toEqual([])
  await stick([0, -0.5])
  await waitFor(() => expect(robot.obeyed(3).at(-1)?.linearMps).toBeGreaterThan(0.05))

  // 4. T gives control back while the stick is held: the policy continues from there.
  await page.keyboard.press('t')
  await other.getByText('Stacking policy').waitFor()
  expect(changes).toBe(2)
  await waitFor(() => expect(robot.obeyed(4).at(-1), policy.output()).toMatchObject({ linearMps: 0.3 }))
  const lastMps = robot.obeyed(3).at(-1)?.linearMps as number
  expect(policy.output().split('\n')).toContain(`I drive on from ${lastMps} m/s`)
  expect(robot.obeyed(4)[0]?.linearMps).toBeGreaterThan(lastMps)
  expect(lastMps).toBeLessThan(0.3)

  const kept = await supervisor.post(`/api/sessions/${id}/episodes`, {
    action: 'keep',
    seconds: 120,
    task: 'Stack',
  })
  expect(kept.status, JSON.stringify(kept.body)).toBe(200)
  await performAction(owner, id, 'end')
  expect(await policy.ended, policy.output()).toBe(0)

  // What the robot did: it halted for each change, and obeyed nobody of before.
  for (const epoch of [2, 3, 4]) {
    const learned = robot.deeds.findIndex((deed) => deed.did === 'learn' && deed.epoch === epoch)
    const before = robot.deeds.slice(0, learned)
    const lastObeyed = before.findLastIndex(({ did }) => did === 'obey')
    expect(before.slice(lastObeyed), `the change to epoch ${epoch}`).toContainEqual({
      did: 'halt',
      reason: 'control_transferred',
    })
    const epochsOf = (deeds: readonly Deed[]) =>
      new Set(deeds.flatMap((deed) => (deed.did === 'obey' ? deed.epoch : [])))
    expect(Math.max(...epochsOf(before))).toBe(epoch - 1)
    expect(Math.min(...epochsOf(robot.deeds.slice(learned)))).toBe(epoch)
  }

  // What is recorded: each command with its epoch, and what the policy would have done meanwhile.
  const { file_url: path } = await waitFor(async () => {
    const { body } = await owner.get(`/api/sessions/${id}/recording`)
    expect(body.status).toBe('READY')
    return body
  })
  const file = await download(world, owner, path, { 'Wheelhouse-Organization': teamId })
  const mcap = await readMcap(file.bytes)
  const recorded = mcap.of('/control').map(({ json }) => Number(json?.epoch ?? 1))
  expect(recorded).toEqual([...recorded].sort())
  expect(new Set(recorded)).toEqual(new Set([1, 2, 3, 4]))
  const shadow = mcap.of('/control/dropped').filter(({ json }) => json?.policy_id === policyId)
  expect(new Set(shadow.map(({ json }) => json?.why))).toContain('not_holder')
  const transferred = mcap.of('/events').filter(({ json }) => json?.type === 'control.transferred')
  expect(transferred.map(({ json }) => json?.data)).toMatchObject([
    { epoch: 2, reason: 'granted', to: { kind: 'policy', user_id: policyId } },
    { epoch: 3, reason: 'taken_over', to: { kind: 'supervisor', user_id: supervisor.id } },
    { epoch: 4, reason: 'returned', to: { kind: 'policy', user_id: policyId } },
  ])

  // What a policy can learn from: the rows of the supervisor are interventions, and have what the policy would have done beside.
  const ready = await exportDataset(world, owner, { episode_ids: [kept.body.episode.id] })
  await using dataset = await downloadDataset(world, owner, ready.base_url)
  const rows = await duckdb(
    `select * from '${dataset.path('data/chunk-000/file-000.parquet')}' order by index`,
  )
  const runs = rows
    .map(({ intervention }) => intervention)
    .filter((intervention, index, all) => intervention !== all[index - 1])
  expect(runs.slice(-3)).toEqual([false, true, false])
  const linearOf = (value: unknown) => Number((value as number[])[0]).toFixed(3)
  const actions = rows.map((row) => [row.intervention, linearOf(row.action), linearOf(row.policy_action)])
  expect(actions).toContainEqual([true, lastMps.toFixed(3), '0.300'])
  expect(actions).toContainEqual([false, '0.300', '0.300'])

  // What it costs: the first minute, which the operator drove. Policy and supervisor cost nothing.
  const inTwoMonths = () => new Date(Date.now() + 62 * 24 * 3_600_000)
  await createMonthlyClose({ ...world.platform.core, now: inTwoMonths }).run()
  const [invoice] = (await owner.get('/api/client/invoices')).body.invoices
  expect(invoice).toMatchObject({ session_count: 1, minutes: 1, total_cents: 50 })
  const [line] = (await owner.get(`/api/client/invoices/${invoice.id}`)).body.lines
  const free = { rate_cents_per_minute: 0, amount_cents: 0 }
  expect(line.driven).toMatchObject([
    { kind: 'operator', operator_name: operator.name, rate_cents_per_minute: 50, amount_cents: 50 },
    { kind: 'policy', operator_name: 'Stacking policy', ...free },
    { kind: 'supervisor', operator_name: supervisor.name, ...free },
    { kind: 'policy', operator_name: 'Stacking policy', ...free },
  ])
  for (const [index, part] of line.driven.slice(1).entries()) expect(part.from).toBe(line.driven[index].to)
  expect((await operator.get(`/api/sessions/${id}`)).body).toMatchObject({
    client_charge_cents: 50,
    operator_earnings_cents: 35,
  })
  await auditIntervals(world.platform.core.db)
})
