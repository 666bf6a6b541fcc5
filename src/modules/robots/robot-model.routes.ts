import type { z } from 'zod'
import type { CoreServices } from '../../core/core-services.ts'
import { notFound } from '../../core/errors/errors.ts'
import { type Endpoint, endpoint } from '../../core/http/endpoint.ts'
import { RobotModel } from './robot-model.entity.ts'
import { ModelParams, RobotModelList, RobotModelView } from './robot-model.schema.ts'

const LIST_LIMIT = 500

/** Returns the public endpoints for the supported robot models. */
export function robotModelEndpoints({
  forkEntityManager,
}: Pick<CoreServices, 'forkEntityManager'>): Endpoint[] {
  return [
    endpoint({
      method: 'get',
      path: '/api/robots',
      summary: 'Lists the supported robot models by name, up to 500',
      access: 'public',
      response: [200, RobotModelList],
      run: async () => ({
        models: (
          await forkEntityManager().find(RobotModel, {}, { orderBy: { name: 'asc' }, limit: LIST_LIMIT })
        ).map(view),
      }),
    }),
    endpoint({
      method: 'get',
      path: '/api/robots/{id}',
      summary: 'Returns public information about a supported robot model',
      access: 'public',
      params: ModelParams,
      response: [200, RobotModelView],
      errors: { 404: { not_found: 'when no supported model has this id' } },
      run: async ({ params }) => {
        const model = await forkEntityManager().findOne(RobotModel, { id: params.id })
        if (!model) throw notFound('Robot model')
        return view(model)
      },
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
