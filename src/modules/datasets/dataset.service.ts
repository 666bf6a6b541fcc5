import { sql } from 'kysely'
import type { Db } from '../../core/database/tables.ts'
import { badRequest, notFound } from '../../core/errors/errors.ts'
import { grantedTo, inScope, type Scope } from '../../core/permissions/authorization.ts'
import type { ListEpisodes } from './dataset.schema.ts'
import type { DatasetRow, EpisodeRow } from './dataset.view.ts'
import { notExportable } from './exportable-episodes.ts'

/** Maximum number of datasets in a list. */
const LIST_LIMIT = 1_000

/** Selects how many episodes of a row of `datasets` cannot be exported, by reason. */
const countsNotExportable = sql<DatasetRow['not_exportable']>`(
  select coalesce(jsonb_agg(jsonb_build_object('reason', reason, 'count', count) order by reason), '[]')
  from (
    select reason, count(*)::int as count
    from (select ${notExportable} as reason from episodes where episodes.dataset_id = datasets.id) each
    where reason is not null group by reason
  ) reasons)`

/** Matches datasets of a scope, and those that other organizations have granted to it. */
const isReadableIn = (scope: Scope) =>
  sql<boolean>`(${inScope('datasets', scope)} or ${grantedTo('datasets', scope, {
    robot: 'datasets.robot_id',
    owner: 'datasets.client_id',
  })})`

/** Reads the datasets of a client's robots, including removed robots. */
export function createDatasets({ db }: { db: Db }) {
  return {
    /** Returns up to 1,000 datasets, most recently updated first. */
    list: (scope: Scope): Promise<DatasetRow[]> =>
      db
        .selectFrom('datasets')
        .innerJoin('robots', 'robots.id', 'datasets.robot_id')
        .selectAll('datasets')
        .select(['robots.name as robot_name', 'robots.robot_type', countsNotExportable.as('not_exportable')])
        .where(isReadableIn(scope))
        .orderBy('datasets.updated_at', 'desc')
        .orderBy('datasets.id', 'desc')
        .limit(LIST_LIMIT)
        .execute(),

    /**
     * Returns one page of episodes, newest first by start time. The id of the last episode is the `before` of the next page.
     * @throws 404 when the dataset does not exist or belongs to another user, 400 when it does not contain `before`.
     */
    async episodes(scope: Scope, datasetId: string, page: ListEpisodes): Promise<EpisodeRow[]> {
      const dataset = await db
        .selectFrom('datasets')
        .select('id')
        .where('id', '=', datasetId)
        .where(isReadableIn(scope))
        .executeTakeFirst()
      if (!dataset) throw notFound('Dataset')
      const before = page.before === undefined ? undefined : await positionOf(datasetId, page.before)
      return await db
        .selectFrom('episodes')
        .selectAll()
        .select(notExportable.as('not_exportable'))
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
    if (!row)
      throw badRequest(
        'before: must be the id of an episode in this dataset. Use the id of the last episode of a page.',
      )
    return row
  }
}
export type Datasets = ReturnType<typeof createDatasets>
