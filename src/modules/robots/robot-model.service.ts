import { audit } from '../../core/audit/audit.ts'
import type { CoreServices } from '../../core/core-services.ts'
import { notFound } from '../../core/errors/errors.ts'
import { RobotModel } from './robot-model.entity.ts'

const LIST_LIMIT = 500

/** Reads the supported robot models, and lets admins declare their control schemas. */
export function createRobotModels(deps: Pick<CoreServices, 'forkEntityManager' | 'transact' | 'now'>) {
  const { forkEntityManager, transact, now } = deps

  /** @throws 404 when no supported model has this id. */
  async function get(id: string): Promise<RobotModel> {
    const model = await forkEntityManager().findOne(RobotModel, { id }, { populate: ['controlSchema'] })
    if (!model) throw notFound('Robot model')
    return model
  }

  return {
    get,
    /** Returns the models by name, without their control schemas. */
    list: () => forkEntityManager().find(RobotModel, {}, { orderBy: { name: 'asc' }, limit: LIST_LIMIT }),

    /** Declares the commands of a model. Robots that are in a session follow with their next connection or change. */
    async setControlSchema(
      actorId: string,
      id: string,
      schema: Record<string, unknown> | null,
    ): Promise<RobotModel> {
      await transact(async (tx) => {
        const changed = await tx.db
          .updateTable('robot_models')
          .set({ control_schema: schema })
          .where('id', '=', id)
          .executeTakeFirst()
        if (changed.numUpdatedRows === 0n) throw notFound('Robot model')
        const data = { declared: schema !== null }
        await audit(tx, {
          at: now(),
          actorId,
          action: 'robot_model.control_schema_set',
          subject: ['robot_model', id],
          data,
        })
      })
      return await get(id)
    },
  }
}
export type RobotModels = ReturnType<typeof createRobotModels>
