import { z } from 'zod'
import { type Endpoint, endpoint, idParams } from '../../core/http/endpoint.ts'
import {
  RegisteredRobot,
  RegisterRobot,
  RobotDetail,
  RobotToken,
  RobotView,
  UpdateRobot,
} from './robot.schema.ts'
import type { Robots } from './robot.service.ts'
import type { RobotViews } from './robot.view.ts'
import { CountRobots, ListRobots, RobotCounts } from './robot-list.schema.ts'
import type { RobotLists } from './robot-list.service.ts'
import type { RobotTokens } from './robot-token.ts'

const access = { role: 'client' } as const

interface RobotRouteDeps {
  readonly robots: Robots
  readonly robotLists: RobotLists
  readonly views: RobotViews
  readonly tokens: RobotTokens
}

/** Returns the endpoints for a client's robots. */
export const robotEndpoints = (deps: RobotRouteDeps): Endpoint[] => [
  ...listEndpoints(deps),
  ...ownRobotEndpoints(deps),
]

function listEndpoints({ robotLists, views }: RobotRouteDeps): Endpoint[] {
  return [
    endpoint({
      method: 'get',
      path: '/api/client/robots',
      list: true,
      summary: 'Lists your robots, newest first, 50 by default',
      access,
      query: ListRobots,
      response: [200, z.array(RobotView)],
      headers: ['X-Total-Count', 'X-Next-Cursor'],
      run: async ({ caller, query, http }) => {
        const { rows, total, next } = await robotLists.page(caller.userId, query)
        http.set('X-Total-Count', String(total))
        if (next !== undefined) http.set('X-Next-Cursor', next)
        return rows.map(views.robot)
      },
    }),
    endpoint({
      method: 'get',
      path: '/api/client/robot-counts',
      summary: 'Counts your robots for each status and type, as filters of their list show them',
      access,
      query: CountRobots,
      response: [200, RobotCounts],
      run: ({ caller, query }) => robotLists.counts(caller.userId, query),
    }),
  ]
}

function ownRobotEndpoints({ robots, views, tokens }: RobotRouteDeps): Endpoint[] {
  return [
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
