import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import { OperatorLink, RobotLink, ticketsOf } from '@wheelhouse/sdk'
import { createSecrets } from '../../../src/core/secrets.ts'
import { createRobotTokens } from '../../../src/modules/robots/robot-token.ts'
import type { Lab } from '../lab.ts'
import type { Plan } from '../options.ts'
import type { Section } from '../report.ts'
import { HttpConnection, requestBytes } from '../rest/connection.ts'
import { type ApiUser, forgetSessionsOf } from '../rest/fixtures.ts'
import { type ControlTeam, seedControlTeam } from '../rest/team-fixtures.ts'
import { resetPresence } from '../seed.ts'
import { figure, percentile } from '../stats.ts'
import { gatewayShape, startWheelhouse, type Wheelhouse } from '../targets.ts'

const MOST_HALT_MS = 5
const MOST_REFUSAL_MS = 1_000
/** The operator's commands, 50 a second. */
const COMMAND_EVERY_MS = 20

/** Between two takeovers: what follows the last one, such as notifications, is over then. */
const SETTLE_MS = 200

/** Measures how fast control changes hands: one takeover after the other, and many at once. */
export async function measureControl(lab: Lab, plan: Plan): Promise<Section> {
  await resetPresence(lab.db, 'away')
  const team = await seedControlTeam(lab.db, plan.control.rivals)
  const server = await startWheelhouse(lab, gatewayShape(lab))
  const stage = await openStage(lab, server, team)
  try {
    const { haltMs, obeyedMs, roundTripMs } = await takeovers(stage, plan.control.takeovers)
    const rush = await takeAllAtOnce(stage, team.supervisors, plan.control.atOnce)
    const spread = (values: readonly number[]) =>
      `p50 ${figure(percentile(values, 0.5))}, p99 ${figure(percentile(values, 0.99))} ms`
    return {
      title: 'Control that changes hands',
      rows: [
        {
          what: 'Takeover sent → robot told to halt',
          measured: spread(haltMs),
          goal: `p99 ≤ ${MOST_HALT_MS} ms`,
          met: percentile(haltMs, 0.99) <= MOST_HALT_MS,
        },
        {
          what: 'Grant received → first command of the new holder at the robot',
          measured: spread(obeyedMs),
          goal: 'p50 ≤ one round trip',
          met: percentile(obeyedMs, 0.5) <= percentile(roundTripMs, 0.5),
        },
        { what: 'Round trip of a command and its acknowledgement', measured: spread(roundTripMs) },
        {
          what: `${plan.control.atOnce.toLocaleString('en-GB')} takeovers at once, by ${plan.control.rivals} supervisors`,
          measured: `${rush.winners} of them won; the last refusal after ${figure(rush.lastMs)} ms`,
          goal: `one; ≤ ${MOST_REFUSAL_MS} ms`,
          met: rush.winners === 1 && rush.lastMs <= MOST_REFUSAL_MS,
        },
      ],
      notes: [
        `${plan.control.takeovers} takeovers over REST, 200 ms apart, from an operator who sends 50 commands a second; ` +
          'each is returned. Clients and robot share a process.',
      ],
    }
  } finally {
    stage.close()
    await server.stop()
    await forgetSessionsOf(lab.db, [team.robotId], 'OFFLINE')
  }
}

/** A robot in a session, with its operator and a supervisor. */
async function openStage(lab: Lab, server: Wheelhouse, { robotId, operator, supervisors }: ControlTeam) {
  const [supervisor] = supervisors as [ApiUser]
  const events = new EventTarget()
  const emit = (name: string) => events.dispatchEvent(new Event(name))
  const token = createRobotTokens(createSecrets(lab.secretKey)).issue({ robotId, tokenVersion: 1 })
  const gatewayUrl = `ws://127.0.0.1:${server.destination.port}`
  const robot = new RobotLink({
    url: `${gatewayUrl}/robots/${robotId}/control`,
    token,
    PeerConnection: null,
    onStop: ({ reason }) => emit(reason),
    onControl: ({ seq, data }) => {
      robot.ack(seq)
      emit(`command of ${(data as { by: string }).by}`)
    },
  })
  await robot.connect()
  const api = await HttpConnection.open(Number(new URL(server.apiUrl).port))
  const post = async (user: ApiUser, path: string, body: object) => {
    const answer = await api.send(requestBytes({ method: 'POST', path, apiKey: user.apiKey, body }))
    if (answer.status > 201) throw new Error(`POST ${path} was answered with ${answer.status} ${answer.body}`)
    return JSON.parse(String(answer.body))
  }
  const { sessionId } = await post(operator, '/api/sessions', { robotId })
  const roundTripMs: number[] = []
  const linkOf = ({ apiKey }: ApiUser, by: string) =>
    new OperatorLink({
      getTicket: ticketsOf({ baseUrl: server.apiUrl, token: apiKey, sessionId, part: 'control' }),
      PeerConnection: null,
      onLease: ({ you }) => emit(`${by} ${you ? 'holds' : 'lost'}`),
      onAck: (_seq, ms) => ms !== null && roundTripMs.push(ms),
    })
  const links = { operator: linkOf(operator, 'operator'), supervisor: linkOf(supervisor, 'supervisor') }
  await Promise.all(Object.values(links).map((link) => link.connect()))
  return {
    links,
    roundTripMs,
    next: (event: string) => once(events, event),
    act: (user: ApiUser, action: string) => post(user, `/api/sessions/${sessionId}/control`, { action }),
    path: `/api/sessions/${sessionId}/control`,
    port: Number(new URL(server.apiUrl).port),
    operator,
    supervisor,
    close() {
      for (const link of Object.values(links)) link.close()
      robot.close()
      api.close()
    },
  }
}
type Stage = Awaited<ReturnType<typeof openStage>>

async function takeovers({ links, next, act, supervisor, roundTripMs }: Stage, count: number) {
  const [haltMs, obeyedMs] = [[] as number[], [] as number[]]
  const driving = setInterval(() => links.operator.control({ by: 'operator' }), COMMAND_EVERY_MS)
  try {
    for (let taken = 0; taken < count; taken++) {
      await next('command of operator')
      const sentMs = performance.now()
      const halted = next('control_transferred').then(() => haltMs.push(performance.now() - sentMs))
      const granted = next('supervisor holds').then(async () => {
        const grantedMs = performance.now()
        links.supervisor.control({ by: 'supervisor' }, { urgent: true })
        await next('command of supervisor')
        obeyedMs.push(performance.now() - grantedMs)
      })
      await act(supervisor, 'take_over')
      await Promise.all([halted, granted])
      await Promise.all([act(supervisor, 'return'), next('operator holds')])
      await delay(SETTLE_MS)
    }
  } finally {
    clearInterval(driving)
  }
  return { haltMs, obeyedMs, roundTripMs }
}

/** Sends takeovers of several supervisors, each over a connection of its own, and counts who is granted one. */
async function takeAllAtOnce({ path, port }: Stage, rivals: readonly ApiUser[], count: number) {
  const connections = await Promise.all(Array.from({ length: count }, () => HttpConnection.open(port)))
  await delay(500) // the server has accepted them
  const startedMs = performance.now()
  let [winners, lastMs] = [0, 0]
  await Promise.all(
    connections.map(async (connection, index) => {
      const { apiKey } = rivals[index % rivals.length] as ApiUser
      const body = { action: 'take_over' }
      const { status } = await connection.send(requestBytes({ method: 'POST', path, apiKey, body }))
      if (status === 200) winners++
      else if (status !== 403 && status !== 409) throw new Error(`A takeover was answered with ${status}.`)
      else lastMs = Math.max(lastMs, performance.now() - startedMs)
    }),
  )
  for (const connection of connections) connection.close()
  return { winners, lastMs }
}
