import { randomUUID } from 'node:crypto'
import { camelKeys } from '../../core/database/camel-keys.ts'
import type { Transact } from '../../core/events/transactor.ts'
import { type Endpoint, endpoint } from '../../core/http/endpoint.ts'
import { RobotRequest } from './robot-request.entity.ts'
import { RequestRobot, RobotRequestReceipt } from './robot-request.schema.ts'

/** Returns the route that requests a robot type that is not supported yet. */
export function robotRequestEndpoints(deps: { transact: Transact; now: () => Date }): Endpoint[] {
  const { transact, now } = deps
  return [
    endpoint({
      method: 'post',
      path: '/api/robot-request',
      summary: 'Requests support for a robot type that is not on the platform yet',
      access: 'public',
      body: RequestRobot,
      response: [201, RobotRequestReceipt],
      run: async ({ body }) => {
        const id = randomUUID()
        await transact(async (tx) => {
          tx.em.create(RobotRequest, { id, ...camelKeys(body), createdAt: now() })
        })
        return { success: true, message: 'Thank you. Your request has been recorded.', id }
      },
    }),
  ]
}
