import { z } from 'zod'
import { iso } from '../../core/database/iso.ts'
import { type Endpoint, endpoint, idParams } from '../../core/http/endpoint.ts'
import { credentialOf, scopeOf } from '../../core/permissions/authorization.ts'
import type { RobotModel } from './robot.entity.ts'
import {
  RegisteredRobot,
  RegisterRobot,
  RobotDetail,
  RobotToken,
  RobotView,
  TransferRobot,
  UpdateRobot,
} from './robot.schema.ts'
import type { Robots } from './robot.service.ts'
import type { RobotViews } from './robot.view.ts'
import { RobotData } from './robot-data.schema.ts'
import type { RobotDataService } from './robot-data.service.ts'
import { RobotHealth } from './robot-health.schema.ts'
import type { RobotHealthService } from './robot-health.service.ts'
import { CountRobots, ListRobots, RobotCounts } from './robot-list.schema.ts'
import type { RobotLists } from './robot-list.service.ts'
import { RobotLogPage, RobotLogQuery } from './robot-log.schema.ts'
import type { RobotLogs } from './robot-log.service.ts'
import {
  ModelParams,
  RobotModelDetail,
  RobotModelList,
  type RobotModelView,
  UpdateRobotModel,
} from './robot-model.schema.ts'
import type { RobotModels } from './robot-model.service.ts'
import { PAIRING_CODE_MINUTES, PairedRobot, PairingCode, PairRobot } from './robot-pairing.schema.ts'
import type { RobotPairings } from './robot-pairing.service.ts'
import type { RobotTokens } from './robot-token.ts'

const reading = { role: 'client', action: 'robots.read' } as const
const writing = { role: 'client', action: 'robots.write' } as const

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
      access: reading,
      query: ListRobots,
      response: [200, z.array(RobotView)],
      headers: ['X-Total-Count', 'X-Next-Cursor'],
      run: async ({ caller, query, http }) => {
        const { rows, total, next } = await robotLists.page(scopeOf(caller), query)
        http.set('X-Total-Count', String(total))
        if (next !== undefined) http.set('X-Next-Cursor', next)
        return rows.map(views.robot)
      },
    }),
    endpoint({
      method: 'get',
      path: '/api/client/robot-counts',
      summary: 'Counts your robots for each status and type, as filters of their list show them',
      access: reading,
      query: CountRobots,
      response: [200, RobotCounts],
      run: ({ caller, query }) => robotLists.counts(scopeOf(caller), query),
    }),
  ]
}

function ownRobotEndpoints({ robots, views, tokens }: RobotRouteDeps): Endpoint[] {
  return [
    endpoint({
      method: 'post',
      path: '/api/client/robots',
      summary: 'Registers a robot and shows its token once',
      access: writing,
      body: RegisterRobot,
      response: [201, RegisteredRobot],
      errors: { 409: { hardware_id_taken: 'when another robot has this hardware_id' } },
      run: async ({ caller, body }) => {
        const row = await robots.register(scopeOf(caller), body)
        const token = tokens.issue({ robotId: row.id, tokenVersion: row.token_version })
        return { ...views.detail(row), robot_token: token }
      },
    }),
    endpoint({
      method: 'get',
      path: '/api/client/robots/{id}',
      summary: 'Returns one of your robots with its settings',
      access: reading,
      params: idParams('robot'),
      response: [200, RobotDetail],
      run: async ({ caller, params }) => views.detail(await robots.get(scopeOf(caller), params.id)),
    }),
    endpoint({
      method: 'patch',
      path: '/api/client/robots/{id}',
      summary: 'Changes the settings of one of your robots',
      access: writing,
      params: idParams('robot'),
      body: UpdateRobot,
      response: [200, RobotDetail],
      run: async ({ caller, params, body }) =>
        views.detail(await robots.update(scopeOf(caller), params.id, body)),
    }),
    endpoint({
      method: 'delete',
      path: '/api/client/robots/{id}',
      summary: 'Removes one of your robots; refused during an open session',
      access: writing,
      params: idParams('robot'),
      response: [204],
      errors: { 409: { robot_in_session: 'when the robot is in an open session' } },
      run: ({ caller, params }) => robots.remove(scopeOf(caller), params.id),
    }),
    endpoint({
      method: 'post',
      path: '/api/client/robots/{id}/token',
      summary: 'Replaces the token of one of your robots and closes the connection that uses the old token',
      access: writing,
      params: idParams('robot'),
      response: [201, RobotToken],
      run: async ({ caller, params }) => {
        const tokenVersion = await robots.rotateToken(scopeOf(caller), params.id)
        return { robot_token: tokens.issue({ robotId: params.id, tokenVersion }) }
      },
    }),
    endpoint({
      method: 'post',
      path: '/api/client/robots/{id}/transfer',
      summary: 'Transfers a robot to another organization of yours; its past sessions stay where they are',
      access: { role: 'client', action: 'robots.transfer' },
      params: idParams('robot'),
      body: TransferRobot,
      response: [204],
      errors: { 409: { robot_in_session: 'when the robot is in an open session' } },
      run: ({ caller, params, body }) => robots.transfer(scopeOf(caller), params.id, body.organizationId),
    }),
  ]
}

/** Returns the endpoint that creates a pairing code, and the public one that exchanges it for the robot's token. */
export function robotPairingEndpoints(
  { robotPairings }: { readonly robotPairings: RobotPairings },
  gatewayUrl: () => string,
): Endpoint[] {
  return [
    endpoint({
      method: 'post',
      path: '/api/client/robots/{id}/pairing-code',
      summary: `Creates a pairing code for one of your robots, valid once and for ${PAIRING_CODE_MINUTES} minutes`,
      access: writing,
      params: idParams('robot'),
      response: [201, PairingCode],
      run: async ({ caller, params, http }) => {
        const { code, expiresAt } = await robotPairings.createCode(scopeOf(caller), params.id)
        http.set('Cache-Control', 'no-store')
        return { code, expires_at: iso(expiresAt) }
      },
    }),
    endpoint({
      method: 'post',
      path: '/api/pairing',
      summary: 'Exchanges a pairing code for the address and the token of its robot, once',
      access: 'public',
      publicLimit: 'pairing',
      body: PairRobot,
      response: [200, PairedRobot],
      errors: {
        404: { pairing_code_invalid: 'when the code is unknown, has expired or was replaced' },
        409: { pairing_code_used: 'when the code was used before' },
      },
      run: async ({ body, http }) => {
        const { robotId, name, token } = await robotPairings.exchange(body.code)
        http.set('Cache-Control', 'no-store')
        return {
          robot_id: robotId,
          name,
          control_url: `${gatewayUrl()}/robots/${robotId}/control`,
          robot_token: token,
        }
      },
    }),
  ]
}

/** Returns the endpoint for the log of a client's robot. */
export const robotLogEndpoint = ({ robotLogs }: { robotLogs: RobotLogs }): Endpoint =>
  endpoint({
    method: 'get',
    path: '/api/client/robots/{id}/logs',
    list: true,
    summary: 'Lists the log lines of one of your robots, newest first',
    access: reading,
    params: idParams('robot'),
    query: RobotLogQuery,
    response: [200, RobotLogPage],
    run: async ({ caller, params, query }) => ({
      logs: await robotLogs.page(scopeOf(caller), params.id, query),
    }),
  })

/** Returns the endpoint for the health of a client's robot. */
export const robotHealthEndpoint = ({ robotHealth }: { robotHealth: RobotHealthService }): Endpoint =>
  endpoint({
    method: 'get',
    path: '/api/client/robots/{id}/health',
    summary: 'Returns battery, connection, stops and losses of one of your robots in the last 24 hours',
    access: reading,
    params: idParams('robot'),
    response: [200, RobotHealth],
    run: ({ caller, params }) => robotHealth.of(scopeOf(caller), params.id),
  })

/** Returns the endpoint for the catalogue of the data of a client's robot. */
export const robotDataEndpoint = ({ robotData }: { robotData: RobotDataService }): Endpoint =>
  endpoint({
    method: 'get',
    path: '/api/client/robots/{id}/data',
    summary:
      'Lists what the platform collects about one of your robots: rate, format, retention, and how to get it',
    access: reading,
    params: idParams('robot'),
    response: [200, RobotData],
    run: ({ caller, params }) => robotData.of(scopeOf(caller), params.id),
  })

/** Returns the public endpoints for the supported robot models, and the one with which admins declare their schemas. */
export function robotModelEndpoints({ robotModels }: { readonly robotModels: RobotModels }): Endpoint[] {
  return [
    endpoint({
      method: 'get',
      path: '/api/robots',
      list: true,
      summary: 'Lists the supported robot models by name, up to 500',
      access: 'public',
      response: [200, RobotModelList],
      run: async () => ({ models: (await robotModels.list()).map(view) }),
    }),
    endpoint({
      method: 'get',
      path: '/api/robots/{id}',
      summary: 'Returns public information about a supported robot model',
      access: 'public',
      params: ModelParams,
      response: [200, RobotModelDetail],
      errors: { 404: { not_found: 'when no supported model has this id' } },
      run: async ({ params }) => detail(await robotModels.get(params.id)),
    }),
    endpoint({
      method: 'patch',
      path: '/api/admin/robot-models/{id}',
      summary: 'Declares the commands that robots of a model accept, and the telemetry that they send',
      access: { role: 'admin' },
      params: ModelParams,
      body: UpdateRobotModel,
      response: [200, RobotModelDetail],
      errors: { 404: { not_found: 'when no supported model has this id' } },
      run: async ({ caller, params, body }) =>
        detail(await robotModels.setSchemas(caller.userId, params.id, body, credentialOf(caller))),
    }),
  ]
}

const view = (model: RobotModel): z.infer<typeof RobotModelView> => ({
  id: model.id,
  name: model.name,
  manufacturer: model.manufacturer,
  robot_type: model.robotType,
  category: model.category,
  degrees_of_freedom: model.degreesOfFreedom,
  control_modes: model.controlModes,
  notes: model.notes ?? null,
})

const detail = (model: RobotModel): z.infer<typeof RobotModelDetail> => ({
  ...view(model),
  control_schema: model.controlSchema ?? null,
  telemetry_schema: model.telemetrySchema ?? null,
})
