import { OperatorLink, ticketsOf } from '@wheelhouse/sdk'
import { z } from 'zod'
import { PayoutOverview } from '../../src/modules/payments/payment.schema.ts'
import { CreatedSession } from '../../src/modules/sessions/record/session-view.schema.ts'
import { createRobotActor } from '../../tools/demo/robot-actor.ts'
import { ExpectationError } from '../../tools/demo/transcript.ts'
import { type Chapter, euros, must, type PaymentScenario } from './scenario.ts'

const DRIVEN_MINUTES = 60
/** Part of the last minute, which is charged as a whole minute, is left for the demo itself. */
const DRIVEN_MS = DRIVEN_MINUTES * 60_000 - 45_000
const Charged = z.object({ status: z.literal('COMPLETED'), client_charge_cents: z.int() })
const Earned = z.object({ operator_earnings_cents: z.int() })

/** Drives as the operator over the gateway until the robot obeys; the connection stays open. */
async function drive({ transcript, environment }: PaymentScenario, sessionId: string): Promise<OperatorLink> {
  const token = environment.keys.operator
  const obeyed = Promise.withResolvers<void>()
  const link = new OperatorLink({
    getTicket: ticketsOf({ baseUrl: environment.baseUrl, token, sessionId, part: 'control' }),
    onAck: () => obeyed.resolve(),
  })
  transcript.logSent('OPERATOR', 'gateway connect, and control')
  link.connect().catch(() => {}) // the wait below reports it
  const timer = setInterval(() => link.control({ linear_mps: 0.3, angular_radps: 0 }), 100)
  try {
    const lost = AbortSignal.any([transcript.signal, AbortSignal.timeout(transcript.expectationTimeoutMs)])
    lost.addEventListener('abort', () => obeyed.reject(new ExpectationError('The robot did not obey')), {
      once: true,
    })
    await obeyed.promise
    transcript.logReceived('OPERATOR', 'the robot obeys')
    return link
  } catch (cause) {
    await link.close()
    throw cause
  } finally {
    clearInterval(timer)
  }
}

/** Shows that the transaction that ends a session also determines and posts its charge. */
export const sessionIsCharged: Chapter = async (scenario) => {
  const { transcript, environment, owner, operator, passTime } = scenario
  await transcript.step('An operator drives for an hour, and it is charged when it ends')
  const [robot] = environment.robots
  must(robot !== undefined, 'The demo has no robot')
  const { id, token } = robot as NonNullable<typeof robot>
  const controlUrl = `${environment.running.gatewayUrl}/robots/${id}/control`
  const result = await createRobotActor({ controlUrl, token }, transcript)
  let link: OperatorLink | undefined
  try {
    void result.robot.start()
    await transcript.waitFor('ROBOT', 'welcome')
    const { sessionId } = await operator.makeRequest({
      method: 'POST',
      path: '/api/sessions',
      body: { robotId: id },
      answer: CreatedSession,
      summarize: ({ status }) => `session ${status}`,
    })
    await transcript.waitFor('ROBOT', 'session ACTIVE')
    link = await drive(scenario, sessionId)
    passTime(DRIVEN_MS)
    transcript.logCheck(
      'OPERATOR',
      `keeps the robot until minute ${DRIVEN_MINUTES}; the demo advances the clock`,
    )
    await owner.makeRequest({
      method: 'PATCH',
      path: `/api/sessions/${sessionId}`,
      body: { action: 'end' },
      answer: Charged,
      summarize: ({ status, client_charge_cents }) =>
        `session ${status}, it costs ${euros(client_charge_cents)}`,
    })
    const { operator_earnings_cents: earned } = await operator.makeRequest({
      method: 'GET',
      path: `/api/sessions/${sessionId}`,
      answer: Earned,
      summarize: ({ operator_earnings_cents }) => `it earned ${euros(operator_earnings_cents)}`,
    })
    const { availableCents, pendingEarningsCents } = await operator.makeRequest({
      method: 'GET',
      path: '/api/payments/payout',
      answer: PayoutOverview,
      summarize: (overview) =>
        `${euros(overview.pendingEarningsCents)} pending, ${euros(overview.availableCents)} available for a payout`,
    })
    must(pendingEarningsCents === earned, `${euros(pendingEarningsCents)} are pending, not ${euros(earned)}`)
    must(availableCents === 0, `${euros(availableCents)} are available before the client has paid`)
  } finally {
    await link?.close()
    await result.robot.close()
    await result.link[Symbol.asyncDispose]()
  }
}
