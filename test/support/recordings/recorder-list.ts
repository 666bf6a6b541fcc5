import type { World } from '../world/world.ts'
import type { TestRecorder } from './test-recorder.ts'

/** Adds a recorder to those that are running. */
export async function listRecorder(world: World, { id, url }: TestRecorder): Promise<void> {
  const seen_at = new Date(Date.now() + 3_600_000)
  await world.platform.core.db
    .insertInto('recorder_nodes')
    .values({ id, url, draining: false, seen_at })
    .execute()
}

/** Removes recorders from those that are running. */
export async function unlistRecorders(world: World, ...recorders: readonly TestRecorder[]): Promise<void> {
  const ids = recorders.map(({ id }) => id)
  await world.platform.core.db.deleteFrom('recorder_nodes').where('id', 'in', ids).execute()
}
