import type { Db } from '../../core/database/tables.ts'
import { badRequest, notFound } from '../../core/errors/errors.ts'
import type { ListEpisodes } from './dataset.schema.ts'
import type { DatasetRow, EpisodeRow } from './dataset.view.ts'

/** Most datasets one list answers with. */
const LIST_LIMIT = 1_000

/** Reading what a client's robots have recorded, removed robots included. */
export function createDatasets({ db }: { db: Db }) {
  return {
    /** Newest update first, at most 1,000. */
    list: (clientId: string): Promise<DatasetRow[]> =>
      db
        .selectFrom('datasets')
        .innerJoin('robots', 'robots.id', 'datasets.robot_id')
        .selectAll('datasets')
        .select(['robots.name as robot_name', 'robots.robot_type'])
        .where('datasets.client_id', '=', clientId)
        .orderBy('datasets.updated_at', 'desc')
        .orderBy('datasets.id', 'desc')
        .limit(LIST_LIMIT)
        .execute(),

    /**
     * A page of episodes, those that began last first; the next page is asked for with the id of the last one.
     * @throws 404 when the dataset does not exist or belongs to somebody else, 400 when `before` is not in it.
     */
    async episodes(clientId: string, datasetId: string, page: ListEpisodes): Promise<EpisodeRow[]> {
      const dataset = await db
        .selectFrom('datasets')
        .select('id')
        .where('id', '=', datasetId)
        .where('client_id', '=', clientId)
        .executeTakeFirst()
      if (!dataset) throw notFound('Dataset')
      const before = page.before === undefined ? undefined : await positionOf(datasetId, page.before)
      return await db
        .selectFrom('episodes')
        .selectAll()
        .where('dataset_id', '=', datasetId)
        .$if(before !== undefined, (query) =>
          query.where((eb) =>
            eb(eb.refTuple('started_at', 'id'), '<', eb.tuple(before!.started_at, before!.id)),
          ),
        )
        .orderBy('started_at', 'desc')
        .orderBy('id', 'desc')
        .limit(page.limit)
        .execute()
    },
  }

  async function positionOf(datasetId: string, id: string) {
    const row = await db
      .selectFrom('episodes')
      .select(['started_at', 'id'])
      .where('dataset_id', '=', datasetId)
      .where('id', '=', id)
      .executeTakeFirst()
    if (!row) throw badRequest('before: must be the id of an episode of this dataset')
    return row
  }
}
export type Datasets = ReturnType<typeof createDatasets>
