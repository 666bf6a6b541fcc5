import { z } from 'zod'
import { type Endpoint, endpoint, idParams } from '../../core/http/endpoint.ts'
import {
  ListRobots,
  RegisteredRobot,
  RegisterRobot,
  RobotDetail,
  RobotToken,
  RobotView,
  UpdateRobot,
} from './robot.schema.ts'
import type { Robots } from './robot.service.ts'
import type { RobotViews } from './robot.view.ts'
import type { RobotTokens } from './robot-token.ts'

const access = { role: 'client' } as const

/** Returns the endpoints for a client's robots. */
export function robotEndpoints(deps: { robots: Robots; views: RobotViews; tokens: RobotTokens }): Endpoint[] {
  const { robots, views, tokens } = deps
  return [
    endpoint({
      method: 'get',
      path: '/api/client/robots',
      summary: 'Lists your robots, newest first, 50 by default',
      access,
      query: ListRobots,
      response: [200, z.array(RobotView)],
      headers: ['X-Total-Count'],
      run: async ({ caller, query, http }) => {
        const { rows, total } = await robots.list(caller.userId, query)
        http.set('X-Total-Count', String(total))
        return rows.map(views.robot)
      },
    }),
    endpoint({
      method: 'post',
      path: '/api/client/robots',
      summary: 'Registers a robot and shows its token once',
      access,
      body: RegisterRobot,
      response: [201, RegisteredRobot],
      errors: { 409: { hardware_id_taken: 'when another robot has this hardware_id' } },
      run: async ({ caller, body }) => {
        const row = await robots.register(caller.userId, body)
        const token = tokens.issue({ robotId: row.id, tokenVersion: row.token_version })
        return { ...views.detail(row), robot_token: token }
      },
    }),
    endpoint({
      method: 'get',
      path: '/api/client/robots/{id}',
      summary: 'Returns one of your robots with its settings',
      access,
      params: idParams('robot'),
      response: [200, RobotDetail],
      run: async ({ caller, params }) => views.detail(await robots.get(caller.userId, params.id)),
    }),
    endpoint({
      method: 'patch',
      path: '/api/client/robots/{id}',
      summary: 'Changes the settings of one of your robots',
      access,
      params: idParams('robot'),
      body: UpdateRobot,
      response: [200, RobotDetail],
      run: async ({ caller, params, body }) =>
        views.detail(await robots.update(caller.userId, params.id, body)),
    }),
    endpoint({
      method: 'delete',
      path: '/api/client/robots/{id}',
      summary: 'Removes one of your robots; refused during an open session',
      access,
      params: idParams('robot'),
      response: [204],
      errors: { 409: { robot_in_session: 'when the robot is in an open session' } },
      run: ({ caller, params }) => robots.remove(caller.userId, params.id),
    }),
    endpoint({
      method: 'post',
      path: '/api/client/robots/{id}/token',
      summary: 'Replaces the token of one of your robots and closes the connection that uses the old token',
      access,
      params: idParams('robot'),
      response: [201, RobotToken],
      run: async ({ caller, params }) => {
        const tokenVersion = await robots.rotateToken(caller.userId, params.id)
        return { robot_token: tokens.issue({ robotId: params.id, tokenVersion }) }
      },
    }),
  ]
}
