import type { Db } from '../../core/database/tables.ts'
import { notFound } from '../../core/errors/errors.ts'
import { type Endpoint, endpoint } from '../../core/http/endpoint.ts'
import { ModelParams, RobotModelList, RobotModelView } from './robot-model.schema.ts'

const LIST_LIMIT = 500

/** Returns the public endpoints for the supported robot models. */
export function robotModelEndpoints({ db }: { db: Db }): Endpoint[] {
  return [
    endpoint({
      method: 'get',
      path: '/api/robots',
      summary: 'Lists the supported robot models by name, up to 500',
      access: 'public',
      response: [200, RobotModelList],
      run: async () => ({
        models: await db.selectFrom('robot_models').selectAll().orderBy('name').limit(LIST_LIMIT).execute(),
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
        const model = await db
          .selectFrom('robot_models')
          .selectAll()
          .where('id', '=', params.id)
          .executeTakeFirst()
        if (!model) throw notFound('Robot model')
        return model
      },
    }),
  ]
}
