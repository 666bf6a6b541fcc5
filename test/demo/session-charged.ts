import { z } from 'zod'
import { createPlayRobot } from '../../src/demo/play-robot.ts'
import { PayoutOverview } from '../../src/payments/payment.schema.ts'
import { CreatedSession } from '../../src/sessions/session.records.ts'
import { type Chapter, euros, must } from './scene.ts'

const DRIVEN_MINUTES = 60
/** Of the last minute, which is charged whole, some is left for the demo itself. */
const DRIVEN_MS = DRIVEN_MINUTES * 60_000 - 45_000
const Charged = z.object({ status: z.literal('COMPLETED'), client_charge_cents: z.int() })
const Earned = z.object({ operator_earnings_cents: z.int() })

/** The charge is fixed and posted in the transaction that ends the session. */
export const sessionIsCharged: Chapter = async (scene) => {
  const { transcript, stage, owner, operator, passTime } = scene
  await transcript.step('An operator has a robot for an hour, and it is charged when it ends')
  const [robot] = stage.robots
  must(robot !== undefined, 'The demo has no robot')
  const { id, token } = robot as NonNullable<typeof robot>
  const controlUrl = `${stage.running.gatewayUrl}/robots/${id}/control`
  const played = await createPlayRobot({ controlUrl, token }, transcript)
  try {
    void played.robot.start()
    await transcript.until('ROBOT', 'welcome')
    const { sessionId } = await operator.ask({
      ...{ method: 'POST', path: '/api/sessions', body: { robotId: id }, answer: CreatedSession },
      reads: ({ status }) => `session ${status}`,
    })
    await transcript.until('ROBOT', 'session ACTIVE')
    passTime(DRIVEN_MS)
    transcript.confirms(
      'OPERATOR',
      `has the robot until its ${DRIVEN_MINUTES}th minute; the demo’s clock goes on at once`,
    )
    await owner.ask({
      ...{ method: 'PATCH', path: `/api/sessions/${sessionId}`, body: { action: 'end' }, answer: Charged },
      reads: ({ status, client_charge_cents }) => `session ${status}, it costs ${euros(client_charge_cents)}`,
    })
    const { operator_earnings_cents: earned } = await operator.ask({
      ...{ method: 'GET', path: `/api/sessions/${sessionId}`, answer: Earned },
      reads: ({ operator_earnings_cents }) => `it earned ${euros(operator_earnings_cents)}`,
    })
    const { availableCents } = await operator.ask({
      ...{ method: 'GET', path: '/api/payments/payout', answer: PayoutOverview },
      reads: (overview) => `${euros(overview.availableCents)} available for a payout`,
    })
    must(availableCents === earned, `${euros(availableCents)} are available instead of ${euros(earned)}`)
  } finally {
    await played.robot.close()
    await played.cable.close()
  }
}
