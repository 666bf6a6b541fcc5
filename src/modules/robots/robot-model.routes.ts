import type { z } from 'zod'
import { type Endpoint, endpoint } from '../../core/http/endpoint.ts'
import type { RobotModel } from './robot-model.entity.ts'
import {
  ModelParams,
  RobotModelDetail,
  RobotModelList,
  type RobotModelView,
  UpdateRobotModel,
} from './robot-model.schema.ts'
import type { RobotModels } from './robot-model.service.ts'

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
        detail(await robotModels.setSchemas(caller.userId, params.id, body)),
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
