import { audit } from '../../core/audit/audit.ts'
import type { CoreServices } from '../../core/core-services.ts'
import { notFound } from '../../core/errors/errors.ts'
import { RobotModel } from './robot.entity.ts'
import type { UpdateRobotModel } from './robot-model.schema.ts'

/** Most models in a list. */
const LIST_LIMIT = 500

/** Reads the supported robot models, and lets admins declare their schemas. */
export function createRobotModels(deps: Pick<CoreServices, 'forkEntityManager' | 'transact' | 'now'>) {
  const { forkEntityManager, transact, now } = deps

  /** @throws 404 when no supported model has this id. */
  async function get(id: string): Promise<RobotModel> {
    const model = await forkEntityManager().findOne(
      RobotModel,
      { id },
      { populate: ['controlSchema', 'telemetrySchema'] },
    )
    if (!model) throw notFound('Robot model')
    return model
  }

  return {
    get,
    /** Returns the models by name, without their schemas. */
    list: () => forkEntityManager().find(RobotModel, {}, { orderBy: { name: 'asc' }, limit: LIST_LIMIT }),

    /**
     * Declares the commands or the telemetry of a model. Robots that are in a session follow with their next connection
     * or change.
     */
    async setSchemas(
      actorId: string,
      id: string,
      change: UpdateRobotModel,
      credential?: string,
    ): Promise<RobotModel> {
      await transact(async (tx) => {
        const changed = await tx.db
          .updateTable('robot_models')
          .set(change)
          .where('id', '=', id)
          .executeTakeFirst()
        if (changed.numUpdatedRows === 0n) throw notFound('Robot model')
        for (const [field, schema] of Object.entries(change))
          await audit(tx, {
            at: now(),
            actorId,
            credential,
            action: `robot_model.${field}_set`,
            subject: ['robot_model', id],
            data: { declared: schema !== null },
          })
      })
      return await get(id)
    },
  }
}
export type RobotModels = ReturnType<typeof createRobotModels>
