import { answerOf, type Schemas } from '@wheelhouse/sdk'
import type { Context } from '../context.ts'
import { episodeColumns } from '../episodes/view.ts'
import { datasetIds } from './lookup.ts'

const PAGE = 100

/** Prints the episodes of a dataset. */
export async function run(cli: Context, idOrName: string, { limit }: { limit: number }): Promise<void> {
  const [id = ''] = await datasetIds(cli, [idOrName])
  const found: Schemas['Episode'][] = []
  while (found.length < limit) {
    const before = found.at(-1)?.id
    const query = { ...(before !== undefined && { before }), limit: Math.min(PAGE, limit - found.length) }
    const params = { path: { id }, query }
    const { episodes } = await answerOf(cli.rest.GET('/api/client/datasets/{id}/episodes', { params }))
    found.push(...episodes)
    if (episodes.length < query.limit) break
  }
  cli.out.list(found, episodeColumns, 'No episodes yet.')
}
